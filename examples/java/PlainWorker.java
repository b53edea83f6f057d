/* A worker without the library: JDBC and the statements of examples/sql. Grants points, as examples/worker.c does; the points and the end
 * of the task are stored together or not at all. What it lacks beside a worker of the library is in docs/plain-sql.md.
 *
 *   javac PlainWorker.java
 *   TASKPOOL_JDBC=jdbc:postgresql://db1/shop JDBC_USER=worker JDBC_PASSWORD=... TASKPOOL_SQL=../sql
 *     java -cp .:/usr/share/java/postgresql.jar PlainWorker postgres points [--drain] [--lease-ms N] [--limit N]
 *
 * TASKPOOL_PREFIX: of the tables, else tp_. Its effect goes into a table of yours:
 *   CREATE TABLE example_points (task_id CHAR(36), points INTEGER)
 */
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class PlainWorker {
    private static final long[] LADDER_MS = {60000, 300000, 1200000}; // after 1, 5 and 20 minutes, then a person
    private static final int LAST = LADDER_MS.length + 1;
    private static final Pattern NAME = Pattern.compile(":(\\w+)");

    /** The claim is another's: nothing of this try may be stored. */
    private static final class Lost extends Exception {
        private static final long serialVersionUID = 1;

        Lost(String text) {
            super(text);
        }
    }

    private record Task(String id, String params, int failures, boolean exhausted) {}

    /** A statement with ? for each :name, and the names in their order. */
    private record Statement(String text, List<String> names) {}

    private final String dialect;
    private final String handler;
    private final Map<String, List<Statement>> files = new HashMap<>();
    private boolean drain;
    private long leaseMs = 60000;
    private int limit = 10;
    private Connection connection;

    private PlainWorker(String[] arguments) {
        dialect = arguments[0];
        handler = arguments[1];
        for (int i = 2; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--drain" -> drain = true;
                case "--lease-ms" -> leaseMs = Long.parseLong(arguments[++i]);
                case "--limit" -> limit = Integer.parseInt(arguments[++i]);
                default -> throw new IllegalArgumentException(arguments[i]);
            }
        }
    }

    private static String environment(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null ? otherwise : value;
    }

    private void open() throws SQLException {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException dead) {
                // it is left for a new one
            }
        }
        connection = DriverManager.getConnection(System.getenv("TASKPOOL_JDBC"), System.getenv("JDBC_USER"), System.getenv("JDBC_PASSWORD"));
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        connection.setAutoCommit(false);
    }

    /** After any error; a connection on which not even this works is left for a new one. */
    private void undo() {
        try {
            connection.rollback();
        } catch (SQLException dead) {
            try {
                open();
            } catch (SQLException stillDown) {
                // the next claim says so, and tries again
            }
        }
    }

    private List<Statement> statements(String file) {
        return files.computeIfAbsent(file, name -> {
            String text;
            try {
                text = Files.readString(Path.of(environment("TASKPOOL_SQL", "../sql"), dialect, name + ".sql"));
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
            List<Statement> found = new ArrayList<>();
            text = text.replaceAll("--.*", "").replace("tp_", environment("TASKPOOL_PREFIX", "tp_"));
            for (String part : text.split(";")) {
                if (part.isBlank()) continue;
                List<String> names = new ArrayList<>();
                for (Matcher match = NAME.matcher(part); match.find();) names.add(match.group(1));
                found.add(new Statement(NAME.matcher(part).replaceAll("?"), names));
            }
            return found;
        });
    }

    private PreparedStatement prepare(Statement statement, Map<String, Object> values) throws SQLException {
        PreparedStatement prepared = connection.prepareStatement(statement.text());
        for (int i = 0; i < statement.names().size(); i++) {
            Object value = values.get(statement.names().get(i));
            if (value == null) prepared.setNull(i + 1, Types.VARCHAR);
            else if (value instanceof Long number) prepared.setLong(i + 1, number);
            else if (value instanceof Integer number) prepared.setInt(i + 1, number);
            else prepared.setString(i + 1, (String) value);
        }
        return prepared;
    }

    /** Runs a file's statements; whether each changed one row. */
    private boolean run(String file, Map<String, Object> values) throws SQLException {
        boolean one = true;
        for (Statement statement : statements(file)) {
            try (PreparedStatement prepared = prepare(statement, values)) {
                one &= prepared.executeUpdate() == 1;
            }
        }
        return one;
    }

    /** A settling write: each statement must change one row. */
    private void write(String file, Map<String, Object> values) throws SQLException, Lost {
        if (!run(file, values)) throw new Lost(file);
    }

    private static Map<String, Object> values(Object... pairs) {
        Map<String, Object> values = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) values.put((String) pairs[i], pairs[i + 1]);
        return values;
    }

    /** The tasks of a new claim. A commit without an answer needs no more than to read by the token. */
    private List<Task> claim(String token) throws SQLException {
        try {
            run("claim_take", values("token", token, "handler", handler, "lease_ms", leaseMs, "limit", limit));
            connection.commit();
        } catch (SQLException error) {
            undo();
        }
        List<Task> tasks = new ArrayList<>();
        try (PreparedStatement prepared = prepare(statements("claim_read").get(0), values("token", token, "max_failures", LAST));
                ResultSet row = prepared.executeQuery()) {
            while (row.next()) {
                tasks.add(new Task(row.getString("id"), row.getString("params"), row.getInt("failures"), row.getInt("exhausted") == 1));
            }
        }
        connection.rollback(); // ends what the reading began
        return tasks;
    }

    /** The effect, in the task's own transaction. NumberFormatException: the task itself is wrong. */
    private void grantPoints(Task task) throws SQLException {
        int points = Integer.parseInt(String.valueOf(task.params()).strip());
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO example_points (task_id, points) VALUES (?, ?)")) {
            insert.setString(1, task.id());
            insert.setInt(2, points);
            insert.executeUpdate();
        }
    }

    /** Whether the commit that got no answer was done. */
    private boolean settled(Task task, String token) throws SQLException {
        open();
        try (PreparedStatement prepared = prepare(statements("settled").get(0), values("id", task.id(), "token", token));
                ResultSet row = prepared.executeQuery()) {
            return row.next() && row.getString("pool").equals("finished");
        } finally {
            undo();
        }
    }

    /** Effect and settle in one transaction. */
    private void complete(Task task, String token) throws SQLException, Lost {
        grantPoints(task);
        write("finish", values("id", task.id(), "token", token, "state", "done", "reason", null));
        try {
            connection.commit();
        } catch (SQLException error) {
            if (!settled(task, token)) throw error;
        }
    }

    /** Due again later, or to the failed pool, with its line in the history. */
    private void failed(Task task, String token, String reason, int counted) throws SQLException, Lost {
        long delayMs = LADDER_MS[Math.min(task.failures(), LADDER_MS.length - 1)];
        Map<String, Object> values = values("id", task.id(), "token", token, "reason", reason, "max_failures", LAST, "delay_ms", delayMs,
                "counted", counted, "history_id", UUID.randomUUID().toString(), "handler", handler,
                "attempt", task.failures() + counted, "who", "PlainWorker");
        boolean retried = counted == 1 && run("retry", values);
        if (!retried) write("fail", values);
        values.put("event", retried ? "failed" : "gave-up");
        write("record", values);
        connection.commit();
    }

    private void handle(Task task, String token) {
        try {
            try {
                if (task.exhausted()) failed(task, token, null, 0);
                else complete(task, token);
            } catch (NumberFormatException wrong) {
                undo();
                failed(task, token, "the parameters must be a number of points", 1);
            }
        } catch (Lost lost) {
            undo();
            System.out.println("lost " + task.id() + ": " + lost.getMessage());
        } catch (SQLException | RuntimeException error) {
            // Nothing is known to be stored: the lease lapses, and whoever claims the task then counts a failure.
            undo();
            System.out.println("error " + task.id() + ": " + error.getMessage());
        }
    }

    private void work() throws InterruptedException, SQLException {
        open();
        for (int idle = 0; !drain || idle < 3;) {
            String token = UUID.randomUUID().toString();
            List<Task> tasks;
            try {
                tasks = claim(token);
            } catch (SQLException error) {
                System.out.println("error " + error.getMessage());
                Thread.sleep(500);
                undo();
                continue;
            }
            for (Task task : tasks) handle(task, token);
            idle = tasks.isEmpty() ? idle + 1 : 0;
            if (tasks.isEmpty()) Thread.sleep(100);
        }
        connection.close();
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2) {
            System.err.println("usage: PlainWorker DIALECT HANDLER [--drain] [--lease-ms N] [--limit N]");
            System.exit(2);
        }
        new PlainWorker(arguments).work();
    }
}
