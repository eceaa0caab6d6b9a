import java.nio.file.Path;
import java.util.Random;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.NIOFSDirectory;

/** Makes an index of Lucene and reads documents of it at random: `Searches FOLDER DOCUMENTS READS`. */
public final class Searches {
  private Searches() {}

  public static void main(String[] args) throws Exception {
    int documents = Integer.parseInt(args[1]);
    Random random = new Random(7);
    try (Directory directory = new NIOFSDirectory(Path.of(args[0]))) {
      IndexWriterConfig config =
          new IndexWriterConfig()
              .setUseCompoundFile(false)
              .setMaxBufferedDocs(documents / 8)
              .setMergeScheduler(new SerialMergeScheduler());
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        byte[] body = new byte[1000];
        for (int i = 0; i < documents; i++) {
          random.nextBytes(body);
          Document document = new Document();
          document.add(new StringField("id", Integer.toString(i), Field.Store.YES));
          document.add(new StoredField("body", body));
          writer.addDocument(document);
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        StoredFields fields = reader.storedFields();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
          fields.document(random.nextInt(documents));
        }
      }
    }
  }
}
