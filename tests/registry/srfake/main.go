// The registry of franz-go's own tests on a free port; its address is the first line it prints.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

var (
	authorization = flag.String("authorization", "", "the Authorization header that it wants")
	redirect      = flag.String("redirect", "", "the URL that every request is sent to, in place of an answer")
	certificate   = flag.String("certificate", "", "PEM file of the server's certificate, for TLS")
	key           = flag.String("key", "", "PEM file of its key")
	clients       = flag.String("clients", "", "PEM file of the authority whose client certificates it wants")
)

func main() {
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	if *certificate == "" {
		fmt.Printf("http://%s\n", listener.Addr())
		panic(http.Serve(listener, handler()))
	}
	server := &http.Server{Handler: handler(), TLSConfig: verifying()}
	fmt.Printf("https://%s\n", listener.Addr())
	panic(server.ServeTLS(listener, *certificate, *key))
}

func handler() http.Handler {
	if *redirect != "" {
		return http.RedirectHandler(*redirect, http.StatusTemporaryRedirect)
	}
	var options []srfake.Option
	if *authorization != "" {
		options = append(options, srfake.WithAuth(*authorization))
	}
	return srfake.NewRegistry(options...).Handler()
}

func verifying() *tls.Config {
	if *clients == "" {
		return nil
	}
	pem, err := os.ReadFile(*clients)
	must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	return &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
