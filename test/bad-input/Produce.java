import java.util.Base64;
import java.util.Properties;
import java.util.Scanner;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Another client: writes lines of `codec key value`, the value in base64, each in a batch of its own. Arguments: brokers, topic. */
public class Produce {
  public static void main(String[] arguments) throws Exception {
    Scanner lines = new Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] line = lines.nextLine().split(" ");
      Properties settings = new Properties();
      settings.put("bootstrap.servers", arguments[0]);
      settings.put("compression.type", line[0]);
      settings.put("max.request.size", "10000000");
      byte[] value = Base64.getDecoder().decode(line[2]);
      try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
        producer.send(new ProducerRecord<>(arguments[1], line[1], value)).get();
      }
    }
  }
}
