import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.IFile;

/** Appends to one segment of a spill as many records as each line of its input says: FILE. */
public final class Segments {
  private Segments() {}

  public static void main(String[] args) throws Exception {
    Configuration configuration = new Configuration();
    FileSystem files = FileSystem.getLocal(configuration);
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    try (FSDataOutputStream file = files.create(new Path(args[0]))) {
      IFile.Writer<Text, Text> segment =
          new IFile.Writer<>(configuration, file, Text.class, Text.class, null, null);
      for (String line = orders.readLine(); line != null; line = orders.readLine()) {
        append(segment, Integer.parseInt(line));
        System.out.println(line);
      }
      segment.close();
    }
  }

  private static void append(IFile.Writer<Text, Text> to, int records) throws Exception {
    for (int i = 0; i < records; i++) {
      to.append(new Text("key"), new Text("value " + i));
    }
  }
}
