      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> The answer of a call. Every call has it as its first argument,
      *> and overwrites it.
      *> TP-AREA is the only block that a program needs once. Of the
      *> others it may have several: COPY TPNEW REPLACING ==TP-NEW== BY
      *> ==MY-TASK== LEADING ==TPN== BY ==MINE==.
       01 TP-AREA.
           05 FILLER PIC S9(9) COMP-5 VALUE 1104.
      *> What the call answered: 0 done, positive an answer, negative a
      *> failure.
           05 TPA-STATUS PIC S9(9) COMP-5 VALUE 0.
               88 TP-ANSWER VALUE 0 THRU 999999999.
               88 TP-FAILURE VALUE -999999999 THRU -1.
      *> Done
               88 TP-OK VALUE 0.
      *> Nothing was there to take or to show
               88 TP-NONE VALUE 1.
      *> Already there; nothing was written
               88 TP-EXISTS VALUE 2.
      *> Retries are exhausted; the task is in the failed pool
               88 TP-EXHAUSTED VALUE 3.
      *> Written as a request; a second person is to approve it
               88 TP-REQUESTED VALUE 4.
      *> The request was refused, expired, or its rows have changed
               88 TP-STALE VALUE 5.
      *> The claim is no longer yours; nothing was changed
               88 TP-LOST VALUE -1.
      *> Another session got in the way; nothing was changed
               88 TP-CONFLICT VALUE -2.
      *> A lock or the server did not answer in time; nothing was
      *> changed
               88 TP-TIMEOUT VALUE -3.
      *> No connection; reopen it and ask again
               88 TP-DISCONNECTED VALUE -4.
      *> The pool's tables are missing or of another version
               88 TP-SCHEMA VALUE -5.
      *> This database, driver or plan cannot do it
               88 TP-UNSUPPORTED VALUE -6.
      *> A value is longer than its limit; nothing was written
               88 TP-TOOBIG VALUE -7.
      *> An argument or the order of calls is wrong
               88 TP-MISUSE VALUE -8.
      *> Out of memory
               88 TP-NOMEM VALUE -9.
      *> The database or its driver reported an error
               88 TP-DB VALUE -10.
      *> The database is full or read-only now; nothing was changed
               88 TP-UNWRITABLE VALUE -11.
      *> 1: the same call may succeed later.
           05 TPA-MAY-RETRY PIC S9(9) COMP-5 VALUE 0.
               88 TP-MAY-RETRY VALUE 1.
           05 TPA-NATIVE PIC S9(9) COMP-5 VALUE 0.
      *> Bytes of TEXT before blanks.
           05 TPA-TEXT-LENGTH PIC S9(9) COMP-5 VALUE 0.
           05 TPA-NAME PIC X(16) VALUE SPACES.
           05 TPA-SQLSTATE PIC X(5) VALUE SPACES.
      *> The statement of taskpool that was running.
           05 TPA-STATEMENT PIC X(39) VALUE SPACES.
      *> One line for a person; never a password.
           05 TPA-TEXT PIC X(1024) VALUE SPACES.
