      *> A worker: pays salaries, one task at a time. The payment is
      *> written in the transaction that completes the task, so both
      *> are stored or neither, also when the program is killed.
      *>
      *>   TASKPOOL_DSN  the database
      *>   PAYWORK        until it is killed, which loses nothing
      *>   PAYWORK drain  until nothing is due
       IDENTIFICATION DIVISION.
       PROGRAM-ID. PAYWORK.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPCLAIM.
       COPY TPTASK.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-PARAMS               PIC X(40).
       01  WS-MODE                 PIC X(8) VALUE SPACES.
       01  WS-PAID                 PIC 9(9) VALUE 0.
       01  WS-STOP                 PIC X VALUE "N".
           88 WORK-ENDED           VALUE "Y" "F".
           88 WORK-DRAINED         VALUE "Y".
           88 WORK-FAILED          VALUE "F".
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT WS-MODE FROM ARGUMENT-VALUE
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           IF TP-OK
               CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           END-IF
           IF TP-FAILURE
               PERFORM SHOW-FAILURE
               STOP RUN RETURNING 1
           END-IF
           MOVE 1 TO TPC-HANDLER-COUNT
           MOVE "salary" TO TPC-HANDLER (1)
           IF WS-MODE NOT = "drain"
               MOVE 60000 TO TPC-WAIT-MS
               DISPLAY "waits for salaries until it is killed; "
                   "PAYWORK drain ends when nothing is due" UPON SYSERR
           END-IF
           MOVE 100 TO TPC-POLL-MS
           MOVE LENGTH OF WS-PARAMS TO TPT-PARAMS-SIZE
           PERFORM WORK UNTIL WORK-ENDED
           DISPLAY "paid: " WS-PAID
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           IF WORK-FAILED
               STOP RUN RETURNING 1
           END-IF
           STOP RUN.

      *> TP_STEP waits for a task, and pauses by itself after what may
      *> pass. What became of a task whose end got no answer it finds
      *> out; there is nothing to remember here.
       WORK.
           CALL "TP_STEP" USING TP-AREA WS-CONN TP-CLAIM TP-TASK
               WS-PARAMS
           EVALUATE TRUE
               WHEN TP-OK
                   PERFORM PAY
                   PERFORM SETTLE
               WHEN TP-NONE
                   IF WS-MODE = "drain"
                       SET WORK-DRAINED TO TRUE
                   END-IF
               WHEN TP-MAY-RETRY
                   PERFORM SHOW-FAILURE
               WHEN TP-TOOBIG
      *>           Not a salary that this program can read.
                   PERFORM SHOW-FAILURE
                   SET TPT-RUN-FAILED TO TRUE
                   MOVE 1 TO TPT-NO-RETRY
                   MOVE "params longer than PAYWORK reads"
                       TO TPT-REASON
                   PERFORM SETTLE
               WHEN OTHER
                   PERFORM SHOW-FAILURE
                   SET WORK-FAILED TO TRUE
           END-EVALUATE.

      *> On the task's own connection, in its transaction.
       PAY.
           INITIALIZE TP-STMT
           MOVE "INSERT INTO cob_paid (task_id, employee, amount)"
             & " VALUES (?, ?, ?)" TO TPQ-TEXT
           MOVE 3 TO TPQ-COUNT
           MOVE TPT-ID TO TPQ-VALUE (1)
           MOVE TPT-BIZ-KEY TO TPQ-VALUE (2)
           MOVE WS-PARAMS TO TPQ-VALUE (3)
           SET TPQ-KIND-NUMBER (3) TO TRUE
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           IF TP-OK
               SET TPT-RUN-DONE TO TRUE
               ADD 1 TO WS-PAID
           ELSE
               SET TPT-RUN-FAILED TO TRUE
               MOVE TPA-TEXT TO TPT-REASON
           END-IF.

       SETTLE.
           CALL "TP_SETTLE" USING TP-AREA WS-CONN TP-CLAIM TP-TASK
           IF TP-FAILURE
               PERFORM SHOW-FAILURE
           END-IF.

       SHOW-FAILURE.
           DISPLAY "PAYWORK: " TPA-NAME TPA-TEXT (1:200) UPON SYSERR.
