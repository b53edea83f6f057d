      *> A payroll run: reads employees and stores, in one transaction,
      *> the run and one task "salary" for each of them. Killed at any
      *> moment and started again it stores the run once. An empty
      *> file, or another number than is stored, ends with code 1.
      *>
      *>   TASKPOOL_DSN  the database; SALARIES the file of employees:
      *>                 columns 1-8 the number, 9-19 the amount
      *>   PAYRUN 2026-11
       IDENTIFICATION DIVISION.
       PROGRAM-ID. PAYRUN.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT SALARIES ASSIGN TO "SALARIES"
               ORGANIZATION IS LINE SEQUENTIAL
               FILE STATUS IS WS-FILE-STATUS.
       DATA DIVISION.
       FILE SECTION.
       FD  SALARIES.
       01  SALARY-RECORD.
           05 SALARY-EMPLOYEE      PIC X(8).
           05 SALARY-AMOUNT        PIC X(11).
           05 SALARY-REST          PIC X(20).
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPNEW.
       COPY TPONCE.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-FILE-STATUS          PIC XX.
      *> A byte more than a month has, to see what is too long.
       01  WS-ARGUMENT             PIC X(8) VALUE SPACES.
       01  WS-MONTH REDEFINES WS-ARGUMENT PIC X(7).
      *> Longer than what is put there: a full field is refused.
       01  WS-PARAMS               PIC X(40) VALUE SPACES.
       01  WS-TASKS                PIC 9(9) VALUE 0.
       01  WS-SALARIES             PIC 9(9) VALUE 0.
       01  WS-TRIES                PIC 9(4) VALUE 0.
       01  WS-STATE                PIC X VALUE "R".
           88 RUN-STORED           VALUE "S".
           88 RUN-THERE            VALUE "T".
           88 RUN-FAILED           VALUE "F".
           88 RUN-AGAIN            VALUE "A".
           88 RUN-ENDED            VALUE "S" "T" "F".
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT WS-ARGUMENT FROM ARGUMENT-VALUE
           IF WS-MONTH = SPACES OR WS-ARGUMENT (8:1) NOT = SPACE
               DISPLAY "usage: PAYRUN 2026-11" UPON SYSERR
               STOP RUN RETURNING 2
           END-IF
           PERFORM COUNT-SALARIES
           IF WS-SALARIES = 0
               STOP RUN RETURNING 1
           END-IF
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           IF TP-OK
               CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           END-IF
           IF TP-OK
               CALL "TP_INSTALL" USING TP-AREA WS-CONN
           END-IF
           IF TP-FAILURE
               PERFORM SHOW-FAILURE
               STOP RUN RETURNING 1
           END-IF
           PERFORM MAKE-TABLES
           PERFORM STORE-RUN UNTIL RUN-ENDED
           EVALUATE TRUE
               WHEN RUN-STORED
                   DISPLAY "run " WS-MONTH " stored, tasks: " WS-TASKS
               WHEN RUN-THERE
                   DISPLAY "run " WS-MONTH " was stored before"
           END-EVALUATE
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           IF RUN-FAILED
               STOP RUN RETURNING 1
           END-IF
           STOP RUN.

      *> What is stored is so for good: an empty file must not be.
       COUNT-SALARIES.
           OPEN INPUT SALARIES
           PERFORM UNTIL WS-FILE-STATUS NOT = "00"
               READ SALARIES
                   NOT AT END ADD 1 TO WS-SALARIES
               END-READ
           END-PERFORM
           IF WS-SALARIES = 0
               DISPLAY "PAYRUN: no salaries, status " WS-FILE-STATUS
                   UPON SYSERR
           END-IF
           CLOSE SALARIES.

      *> The first run makes them. That they are there is no failure;
      *> after it nothing of the transaction is stored.
       MAKE-TABLES.
           INITIALIZE TP-STMT
           MOVE "CREATE TABLE cob_runs (month VARCHAR(7) PRIMARY KEY,"
             & " tasks INTEGER)" TO TPQ-TEXT
           PERFORM MAKE-TABLE
           MOVE "CREATE TABLE cob_paid (task_id CHAR(36) PRIMARY KEY,"
             & " employee VARCHAR(8), amount DECIMAL(11,2))"
               TO TPQ-TEXT
           PERFORM MAKE-TABLE.

       MAKE-TABLE.
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           CALL "TP_COMMIT" USING TP-AREA WS-CONN.

      *> One try. A commit that got no answer is no failure yet: the
      *> next try hears from TP_ONCE whether it was done.
       STORE-RUN.
           SET RUN-AGAIN TO TRUE
           MOVE 0 TO WS-TASKS
           ADD 1 TO WS-TRIES
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           IF TP-OK
               INITIALIZE TP-ONCE
               STRING "payrun " WS-MONTH DELIMITED BY SIZE
                   INTO TPO-KEY
               CALL "TP_ONCE" USING TP-AREA WS-CONN TP-ONCE
           END-IF
           IF TP-EXISTS
               PERFORM COMPARE-STORED
           END-IF
           IF TP-OK AND RUN-AGAIN
               PERFORM STORE-ROW
           END-IF
           IF TP-OK AND RUN-AGAIN
               PERFORM PUT-TASKS
           END-IF
           IF TP-OK AND RUN-AGAIN AND WS-TASKS NOT = WS-SALARIES
               DISPLAY "PAYRUN: the file has changed meanwhile"
                   UPON SYSERR
               SET RUN-FAILED TO TRUE
           END-IF
           IF TP-OK AND RUN-AGAIN
               CALL "TP_COMMIT" USING TP-AREA WS-CONN
               IF TP-OK
                   SET RUN-STORED TO TRUE
               END-IF
           END-IF
           IF NOT RUN-STORED
               PERFORM END-TRY
           END-IF.

       COMPARE-STORED.
           INITIALIZE TP-STMT
           MOVE "SELECT tasks FROM cob_runs WHERE month = ?"
               TO TPQ-TEXT
           MOVE 1 TO TPQ-COUNT
           MOVE WS-MONTH TO TPQ-VALUE (1)
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           EVALUATE TRUE
               WHEN TP-FAILURE
                   CONTINUE
               WHEN FUNCTION NUMVAL (TPQ-RESULT (1)) = WS-SALARIES
                   SET RUN-THERE TO TRUE
               WHEN OTHER
                   DISPLAY "PAYRUN: run " WS-MONTH " was stored before,"
                       " with another number of tasks" UPON SYSERR
                   SET RUN-FAILED TO TRUE
           END-EVALUATE.

       STORE-ROW.
           INITIALIZE TP-STMT
           MOVE "INSERT INTO cob_runs (month, tasks) VALUES (?, ?)"
               TO TPQ-TEXT
           MOVE 2 TO TPQ-COUNT
           MOVE WS-MONTH TO TPQ-VALUE (1)
           MOVE WS-SALARIES TO TPQ-VALUE (2)
           SET TPQ-KIND-NUMBER (2) TO TRUE
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT.

      *> Status 10 is the end of the file. Any other, and an amount
      *> that goes on behind its columns, stops the run: half a file
      *> is no payroll.
       PUT-TASKS.
           OPEN INPUT SALARIES
           PERFORM UNTIL WS-FILE-STATUS NOT = "00" OR TP-FAILURE
               READ SALARIES
                   NOT AT END PERFORM PUT-TASK
               END-READ
           END-PERFORM
           IF WS-FILE-STATUS NOT = "10" AND NOT TP-FAILURE
               DISPLAY "PAYRUN: SALARIES cannot be read, status "
                   WS-FILE-STATUS UPON SYSERR
               SET RUN-FAILED TO TRUE
           END-IF
           CLOSE SALARIES.

      *> INITIALIZE makes the block stand for a new task.
       PUT-TASK.
           IF SALARY-REST NOT = SPACES
               MOVE "04" TO WS-FILE-STATUS
               EXIT PARAGRAPH
           END-IF
           INITIALIZE TP-NEW
           MOVE "salary" TO TPN-HANDLER
           MOVE SALARY-EMPLOYEE TO TPN-BIZ-KEY
           MOVE SALARY-AMOUNT TO WS-PARAMS
           MOVE LENGTH OF WS-PARAMS TO TPN-PARAMS-SIZE
           CALL "TP_ENQUEUE" USING TP-AREA WS-CONN TP-NEW WS-PARAMS
           IF TP-OK
               ADD 1 TO WS-TASKS
           END-IF.

      *> Says whether another try makes sense, and rolls back.
       END-TRY.
           IF TP-FAILURE AND (NOT TP-MAY-RETRY OR WS-TRIES > 20)
               PERFORM SHOW-FAILURE
               SET RUN-FAILED TO TRUE
           END-IF
           CALL "TP_ROLLBACK" USING TP-AREA WS-CONN
           IF RUN-AGAIN
               CALL "C$SLEEP" USING 1
               CALL "TP_REOPEN" USING TP-AREA WS-CONN
           END-IF.

       SHOW-FAILURE.
           DISPLAY "PAYRUN: " TPA-NAME TPA-TEXT (1:200) UPON SYSERR.
