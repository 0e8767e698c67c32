// The registry of franz-go's own tests on a free port; its address is the first line it prints. An argument is the
// Authorization header that it wants.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

func main() {
	var options []srfake.Option
	if len(os.Args) > 1 {
		options = append(options, srfake.WithAuth(os.Args[1]))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	panic(http.Serve(listener, srfake.NewRegistry(options...).Handler()))
}
