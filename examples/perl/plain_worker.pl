#!/usr/bin/perl
# A worker without the library: DBI and the statements of examples/sql. Grants points, as examples/worker.c does; the points and the end
# of the task are stored together or not at all. What it lacks beside a worker of the library is in docs/plain-sql.md.
#
#   TASKPOOL_DBI='dbi:Pg:host=db1;dbname=shop' DBI_USER=worker DBI_PASS=... plain_worker.pl postgres points [--drain] [--lease-ms N] [--limit N]
#
# With DBD::Pg (postgres), DBD::MariaDB (mysql) or DBD::SQLite (sqlite). TASKPOOL_PREFIX: of the tables, else tp_.
# Its effect goes into a table of yours: CREATE TABLE example_points (task_id CHAR(36), points INTEGER)
use strict;
use warnings;
use DBI qw(:sql_types);
use File::Basename qw(dirname);
use Getopt::Long;
use Time::HiRes qw(sleep);

my $prefix = $ENV{TASKPOOL_PREFIX} // 'tp_';
my @ladder_ms = (60000, 300000, 1200000);    # after 1, 5 and 20 minutes, then a person
my %is_number = map { $_ => 1 } qw(lease_ms limit max_failures delay_ms counted attempt);
my %option = ('lease-ms' => 60000, limit => 10);
GetOptions(\%option, 'drain', 'lease-ms=i', 'limit=i') && @ARGV == 2 or die "usage: plain_worker.pl DIALECT HANDLER [--drain] [--lease-ms N] [--limit N]\n";
my ($dialect, $handler) = @ARGV;
my ($dbh, %statements);
$| = 1;

sub connect_anew {
    eval { $dbh->disconnect } if $dbh;
    $dbh = DBI->connect($ENV{TASKPOOL_DBI}, $ENV{DBI_USER}, $ENV{DBI_PASS}, { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
    if ($dialect eq 'sqlite') {
        $dbh->sqlite_busy_timeout(60000);
        $dbh->{sqlite_use_immediate_transaction} = 1;    # who is to write must say so at the beginning
    } elsif ($dialect eq 'mysql') {
        $dbh->do('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    } elsif ($dialect eq 'postgres') {
        $dbh->do('SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED');
    }
}

# After any error; a connection on which not even this works is left for a new one.
sub undo {
    eval { $dbh->rollback unless $dbh->{AutoCommit}; 1 } or eval { connect_anew() };
}

sub new_uuid {
    open my $random, '<:raw', '/dev/urandom' or die "no /dev/urandom: $!\n";
    read($random, my $bytes, 16) == 16 or die "no random bytes\n";
    vec($bytes, 6, 8) = vec($bytes, 6, 8) & 0x0f | 0x40;
    vec($bytes, 8, 8) = vec($bytes, 8, 8) & 0x3f | 0x80;
    return join '-', unpack 'H8 H4 H4 H4 H12', $bytes;
}

# The statements of a file, as pairs: text with ? for each :name, and the names in their order.
sub statements_of {
    my ($name) = @_;
    return @{ $statements{$name} //= do {
        my $path = dirname(__FILE__) . "/../sql/$dialect/$name.sql";
        open my $file, '<', $path or die "$path: $!\n";
        my $text = join '', <$file>;
        $text =~ s/--.*//g;
        $text =~ s/\btp_/$prefix/g;
        [map { my @names = /:(\w+)/g; [s/:\w+/?/gr, \@names] } grep {/\S/} split /;/, $text];
    } };
}

# Runs a file's statements; gives the last, and the row counts of all.
sub run {
    my ($name, %value) = @_;
    my ($statement, @counts);
    for my $pair (statements_of($name)) {
        my ($text, $names) = @$pair;
        $statement = $dbh->prepare($text);
        for my $i (0 .. $#$names) {
            $statement->bind_param($i + 1, $value{ $names->[$i] }, $is_number{ $names->[$i] } ? SQL_BIGINT : SQL_VARCHAR);
        }
        push @counts, int $statement->execute;
    }
    return ($statement, @counts);
}

# A settling write: each statement must change one row, else the claim is another's, and nothing of this try may be stored.
sub write_settle {
    my ($name, %value) = @_;
    my (undef, @counts) = run($name, %value);
    die "lost: $name: row counts @counts\n" if grep { $_ != 1 } @counts;
}

# The token of a new claim, and its tasks. A commit without an answer needs no more than to read by the token, over a connection that
# lives: some drivers roll back on a dead one without an error.
sub claim {
    my $token = new_uuid();
    eval {
        $dbh->begin_work;
        run('claim_take', token => $token, handler => $handler, lease_ms => $option{'lease-ms'}, limit => $option{limit});
        $dbh->commit;
        1;
    } or connect_anew();
    my ($statement) = run('claim_read', token => $token, max_failures => @ladder_ms + 1);
    return ($token, @{ $statement->fetchall_arrayref({}) });
}

# The effect, in the task's own transaction.
sub grant_points {
    my ($task) = @_;
    ($task->{params} // '') =~ /^\s*-?\d+\s*$/ or die "wrong: the parameters must be a number of points\n";
    $dbh->do('INSERT INTO example_points (task_id, points) VALUES (?, ?)', undef, $task->{id}, int $task->{params});
}

# Whether the commit that got no answer was done.
sub settled {
    my ($task, $token) = @_;
    connect_anew();
    my ($statement) = run('settled', id => $task->{id}, token => $token);
    my $found = $statement->fetchrow_arrayref;
    return $found && $found->[0] eq 'finished';
}

# Effect and settle in one transaction.
sub do_task {
    my ($task, $token) = @_;
    $dbh->begin_work;
    grant_points($task);
    write_settle('finish', id => $task->{id}, token => $token, state => 'done', reason => undef);
    my $done = eval { $dbh->commit; 1 };
    my $error = $@;
    die $error unless $done || settled($task, $token);
}

# Due again later, or to the failed pool, with its line in the history.
sub failed {
    my ($task, $token, $reason, $counted) = @_;
    my @who = (id => $task->{id}, token => $token, reason => $reason);
    my $delay_ms = $ladder_ms[$task->{failures} < @ladder_ms ? $task->{failures} : -1];
    my $retries = 0;
    $dbh->begin_work;
    (undef, $retries) = run('retry', @who, max_failures => @ladder_ms + 1, delay_ms => $delay_ms) if $counted;
    write_settle('fail', @who, counted => $counted) unless $retries == 1;
    write_settle('record', @who, history_id => new_uuid(), handler => $handler, event => $retries == 1 ? 'failed' : 'gave-up',
        attempt => $task->{failures} + $counted, who => 'plain_worker');
    $dbh->commit;
}

sub handle {
    my ($task, $token) = @_;
    my $done = eval { $task->{exhausted} ? failed($task, $token, undef, 0) : do_task($task, $token); 1 };
    return if $done;
    my $error = $@;
    undo();
    if ($error =~ /^wrong: (.{0,500})/) {
        my $reason = $1;
        return if eval { failed($task, $token, $reason, 1); 1 };
        $error = $@;
        undo();
    }
    # Nothing is known to be stored: the lease lapses, and whoever claims the task then counts a failure.
    print "$task->{id} $error\n";
}

connect_anew();
my $idle = 0;
while (!$option{drain} || $idle < 3) {
    my ($token, @tasks) = eval { claim() };
    if (!$token) {
        print "error: $@\n";
        sleep 0.5;
        eval { connect_anew() };    # the server may not be back yet
        next;
    }
    handle($_, $token) for @tasks;
    $idle = @tasks ? 0 : $idle + 1;
    sleep 0.1 unless @tasks;
}
