/* A worker without the library: System.Data.Odbc and the statements of examples/sql. Grants points, as examples/worker.c does; the points
 * and the end of the task are stored together or not at all. What it lacks beside a worker of the library is in docs/plain-sql.md.
 *
 *   mcs -r:System.Data.dll PlainWorker.cs        (Mono; on .NET a project with the package System.Data.Odbc)
 *   TASKPOOL_DSN='Driver=PostgreSQL Unicode;Server=db1;...' TASKPOOL_SQL=../sql
 *     mono PlainWorker.exe postgres points [--drain] [--lease-ms N] [--limit N]
 *
 * Another provider (Npgsql, MySqlConnector, Oracle.ManagedDataAccess) takes the place of OdbcConnection in Open, and its own way to write
 * a placeholder that of ? in Statements. TASKPOOL_PREFIX: of the tables, else tp_.
 * Its effect goes into a table of yours: CREATE TABLE example_points (task_id CHAR(36), points INTEGER)
 */
using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Data.Odbc;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using System.Threading;

public sealed class PlainWorker {
    static readonly long[] LadderMs = {60000, 300000, 1200000}; // after 1, 5 and 20 minutes, then a person
    static readonly int Last = LadderMs.Length + 1;
    static readonly Regex Name = new Regex(@":(\w+)");

    /// The claim is another's: nothing of this try may be stored.
    sealed class LostException : Exception {
        public LostException(string text) : base(text) {}
    }

    sealed class TaskRow {
        public string Id, Params;
        public int Failures;
        public bool Exhausted;
    }

    /// A statement with ? for each :name, and the names in their order.
    sealed class Statement {
        public string Text;
        public string[] Names;
    }

    readonly string dialect, handler;
    readonly bool drain;
    readonly long leaseMs = 60000;
    readonly int limit = 10;
    readonly Dictionary<string, List<Statement>> files = new Dictionary<string, List<Statement>>();
    DbConnection connection;
    DbTransaction transaction;

    PlainWorker(string[] arguments) {
        dialect = arguments[0];
        handler = arguments[1];
        for (int i = 2; i < arguments.Length; i++) {
            if (arguments[i] == "--drain") drain = true;
            else if (arguments[i] == "--lease-ms") leaseMs = long.Parse(arguments[++i], CultureInfo.InvariantCulture);
            else if (arguments[i] == "--limit") limit = int.Parse(arguments[++i], CultureInfo.InvariantCulture);
            else throw new ArgumentException(arguments[i]);
        }
    }

    static string Variable(string name, string otherwise) {
        return Environment.GetEnvironmentVariable(name) ?? otherwise;
    }

    void Open() {
        if (connection != null) connection.Dispose();
        transaction = null;
        connection = new OdbcConnection(Variable("TASKPOOL_DSN", ""));
        connection.Open();
    }

    void Begin() {
        transaction = connection.BeginTransaction(IsolationLevel.ReadCommitted);
    }

    /// Of the database, or of a connection that it has lost: what a commit without an answer throws.
    static bool IsDatabase(Exception error) {
        return error is DbException || error is InvalidOperationException;
    }

    void Commit() {
        transaction.Commit();
        transaction = null;
    }

    /// After any error; a connection on which not even this works is left for a new one.
    void Undo() {
        try {
            if (transaction != null) transaction.Rollback();
            transaction = null;
        } catch (Exception) {
            try {
                Open();
            } catch (DbException) {
                // the next claim says so, and tries again
            }
        }
    }

    List<Statement> Statements(string file) {
        List<Statement> found;
        if (files.TryGetValue(file, out found)) return found;
        string text = File.ReadAllText(Path.Combine(Variable("TASKPOOL_SQL", "../sql"), dialect, file + ".sql"));
        text = Regex.Replace(text, "--.*", "").Replace("tp_", Variable("TASKPOOL_PREFIX", "tp_"));
        found = (from part in text.Split(';') where part.Trim() != ""
                 select new Statement {
                     Text = Name.Replace(part, "?"),
                     Names = Name.Matches(part).Cast<Match>().Select(match => match.Groups[1].Value).ToArray()
                 }).ToList();
        files[file] = found;
        return found;
    }

    DbCommand Command(Statement statement, Dictionary<string, object> values) {
        DbCommand command = connection.CreateCommand();
        command.Transaction = transaction;
        command.CommandText = statement.Text;
        foreach (string name in statement.Names) {
            DbParameter parameter = command.CreateParameter();
            parameter.DbType = values[name] is long ? DbType.Int64 : DbType.String;
            parameter.Value = values[name] ?? DBNull.Value;
            command.Parameters.Add(parameter);
        }
        return command;
    }

    /// Runs a file's statements; whether each changed one row.
    bool Run(string file, Dictionary<string, object> values) {
        bool one = true;
        foreach (Statement statement in Statements(file))
            using (DbCommand command = Command(statement, values)) one &= command.ExecuteNonQuery() == 1;
        return one;
    }

    /// A settling write: each statement must change one row.
    void Write(string file, Dictionary<string, object> values) {
        if (!Run(file, values)) throw new LostException(file);
    }

    /// The tasks of a new claim. A commit without an answer needs no more than to read by the token.
    List<TaskRow> Claim(string token) {
        var values = new Dictionary<string, object> {
            {"token", token}, {"handler", handler}, {"lease_ms", leaseMs}, {"limit", (long)limit}, {"max_failures", (long)Last}};
        try {
            Begin();
            Run("claim_take", values);
            Commit();
        } catch (Exception error) when (IsDatabase(error)) {
            Undo();
        }
        var tasks = new List<TaskRow>();
        using (DbCommand command = Command(Statements("claim_read")[0], values))
        using (DbDataReader row = command.ExecuteReader())
            while (row.Read())
                tasks.Add(new TaskRow {
                    Id = row["id"].ToString(), Params = row["params"].ToString(),
                    Failures = Convert.ToInt32(row["failures"], CultureInfo.InvariantCulture),
                    Exhausted = Convert.ToInt32(row["exhausted"], CultureInfo.InvariantCulture) == 1
                });
        return tasks;
    }

    /// The effect, in the task's own transaction. FormatException: the task itself is wrong.
    void GrantPoints(TaskRow task) {
        long points = int.Parse(task.Params, CultureInfo.InvariantCulture);
        var insert = new Statement {
            Text = "INSERT INTO example_points (task_id, points) VALUES (?, ?)", Names = new[] {"id", "points"}};
        using (DbCommand command = Command(insert, new Dictionary<string, object> {{"id", task.Id}, {"points", points}}))
            command.ExecuteNonQuery();
    }

    /// Whether the commit that got no answer was done.
    bool Settled(TaskRow task, string token) {
        Open();
        using (DbCommand command = Command(Statements("settled")[0], new Dictionary<string, object> {{"id", task.Id}, {"token", token}}))
        using (DbDataReader row = command.ExecuteReader())
            return row.Read() && row["pool"].ToString().Trim() == "finished";
    }

    /// Effect and settle in one transaction.
    void Complete(TaskRow task, string token) {
        Begin();
        GrantPoints(task);
        Write("finish", new Dictionary<string, object> {{"id", task.Id}, {"token", token}, {"state", "done"}, {"reason", null}});
        try {
            Commit();
        } catch (Exception error) when (IsDatabase(error)) {
            if (!Settled(task, token)) throw;
        }
    }

    /// Due again later, or to the failed pool, with its line in the history.
    void Failed(TaskRow task, string token, string reason, int counted) {
        var values = new Dictionary<string, object> {
            {"id", task.Id}, {"token", token}, {"reason", reason}, {"max_failures", (long)Last}, {"counted", (long)counted},
            {"delay_ms", LadderMs[Math.Min(task.Failures, LadderMs.Length - 1)]}, {"history_id", Guid.NewGuid().ToString()},
            {"handler", handler}, {"attempt", (long)(task.Failures + counted)}, {"who", "PlainWorker"}};
        Begin();
        bool retried = counted == 1 && Run("retry", values);
        if (!retried) Write("fail", values);
        values["event"] = retried ? "failed" : "gave-up";
        Write("record", values);
        Commit();
    }

    void Handle(TaskRow task, string token) {
        try {
            try {
                if (task.Exhausted) Failed(task, token, null, 0);
                else Complete(task, token);
            } catch (Exception wrong) when (wrong is FormatException || wrong is OverflowException) {
                Undo();
                Failed(task, token, "the parameters must be a number of points", 1);
            }
        } catch (Exception error) {
            // Lost, or nothing is known to be stored: then the lease lapses, and whoever claims the task next counts a failure.
            Undo();
            Console.WriteLine((error is LostException ? "lost " : "error ") + task.Id + ": " + error.Message);
        }
    }

    void Work() {
        Open();
        for (int idle = 0; !drain || idle < 3;) {
            string token = Guid.NewGuid().ToString();
            List<TaskRow> tasks;
            try {
                tasks = Claim(token);
            } catch (Exception error) when (IsDatabase(error)) {
                Console.WriteLine("error " + error.Message);
                Thread.Sleep(500);
                try {
                    Open();
                } catch (DbException) {
                    // the server is not back yet
                }
                continue;
            }
            foreach (TaskRow task in tasks) Handle(task, token);
            idle = tasks.Count == 0 ? idle + 1 : 0;
            if (tasks.Count == 0) Thread.Sleep(100);
        }
        connection.Dispose();
    }

    public static int Main(string[] arguments) {
        if (arguments.Length < 2) {
            Console.Error.WriteLine("usage: PlainWorker DIALECT HANDLER [--drain] [--lease-ms N] [--limit N]");
            return 2;
        }
        new PlainWorker(arguments).Work();
        return 0;
    }
}
