import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's command-line tools one after another in one virtual machine: starting one costs more than most tools do.
 *
 * A request on stdin is a count and that many strings (the class, then its arguments), then what the tool reads as its
 * stdin; the response on stdout is what the tool printed, errors included. Every string is an int32 length and its bytes.
 * A tool that exits leaves its thread asleep for ever, so that nothing of it runs after its exit, as in a process.
 */
public class ToolServer {
    public static void main(String[] unused) throws Exception {
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (EOFException end) {
                Runtime.getRuntime().halt(0);
                return;
            }
            String[] words = new String[count];
            for (int n = 0; n < count; n++) {
                words[n] = new String(read(in), StandardCharsets.UTF_8);
            }
            byte[] printed = run(words, read(in));
            out.writeInt(printed.length);
            out.write(printed);
            out.flush();
        }
    }

    private static byte[] read(DataInputStream in) throws Exception {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    private static byte[] run(String[] words, byte[] input) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
        CountDownLatch ended = new CountDownLatch(1);
        Exit.Procedure exit = (status, message) -> {
            ended.countDown();
            while (true) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException again) {
                    continue;
                }
            }
        };
        Exit.setExitProcedure(exit);
        Exit.setHaltProcedure(exit);
        System.setIn(new ByteArrayInputStream(input));
        System.setOut(stream);
        System.setErr(stream);
        Thread tool = new Thread(() -> {
            try {
                String[] arguments = java.util.Arrays.copyOfRange(words, 1, words.length);
                Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
            } catch (InvocationTargetException problem) {
                problem.getCause().printStackTrace(stream);
            } catch (ReflectiveOperationException problem) {
                problem.printStackTrace(stream);
            } finally {
                ended.countDown();
            }
        });
        tool.setDaemon(true);
        tool.start();
        ended.await();
        return printed.toByteArray();
    }
}
