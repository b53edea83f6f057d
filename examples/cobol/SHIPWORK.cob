      *> A worker whose task has three steps: an order is charged, gets
      *> its label, and a mail is put in. What a step writes and the
      *> record that it is done are one commit. So a program that is
      *> killed, or a step that fails, goes on in the next try with the
      *> first step that is not done. It ends when nothing is due.
      *>
      *>   TASKPOOL_DSN  the database
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHIPWORK.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPCLAIM.
       COPY TPTASK.
       COPY TPSTEP.
       COPY TPRESULT.
       COPY TPNEW.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-PARAMS               PIC X(40).
       01  WS-TEXT                 PIC X(80).
       01  WS-LABEL                PIC X(80).
       01  WS-STOP                 PIC X VALUE "N".
           88 WORK-ENDED           VALUE "Y" "F".
           88 WORK-DRAINED         VALUE "Y".
           88 WORK-FAILED          VALUE "F".
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           IF TP-OK
               CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           END-IF
           IF TP-FAILURE
               PERFORM SHOW-FAILURE
               STOP RUN RETURNING 1
           END-IF
           PERFORM MAKE-TABLE
           MOVE 1 TO TPC-HANDLER-COUNT
           MOVE "ship" TO TPC-HANDLER (1)
           MOVE 100 TO TPC-POLL-MS
           MOVE LENGTH OF WS-PARAMS TO TPT-PARAMS-SIZE
           PERFORM WORK UNTIL WORK-ENDED
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           IF WORK-FAILED
               STOP RUN RETURNING 1
           END-IF
           STOP RUN.

       MAKE-TABLE.
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           MOVE "CREATE TABLE cob_shipped (task_id CHAR(36),"
             & " step VARCHAR(8))" TO TPQ-TEXT
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           IF TP-OK
               CALL "TP_COMMIT" USING TP-AREA WS-CONN
           ELSE
      *>       It is there.
               CALL "TP_ROLLBACK" USING TP-AREA WS-CONN
           END-IF.

       WORK.
           CALL "TP_STEP" USING TP-AREA WS-CONN TP-CLAIM TP-TASK
               WS-PARAMS
           EVALUATE TRUE
               WHEN TP-OK
                   PERFORM SHIP
                   CALL "TP_SETTLE" USING TP-AREA WS-CONN TP-CLAIM
                       TP-TASK
               WHEN TP-NONE
                   SET WORK-DRAINED TO TRUE
               WHEN TP-MAY-RETRY
                   PERFORM SHOW-FAILURE
               WHEN TP-TOOBIG
      *>           Not an order that this program can read.
                   PERFORM SHOW-FAILURE
                   SET TPT-RUN-FAILED TO TRUE
                   MOVE 1 TO TPT-NO-RETRY
                   MOVE "params longer than SHIPWORK reads"
                       TO TPT-REASON
                   CALL "TP_SETTLE" USING TP-AREA WS-CONN TP-CLAIM
                       TP-TASK
               WHEN OTHER
                   PERFORM SHOW-FAILURE
                   SET WORK-FAILED TO TRUE
           END-EVALUATE.

      *> Each step is asked for first. A step that fails is a failure
      *> of the task, and the next try goes on with that step.
       SHIP.
           SET TPT-RUN-FAILED TO TRUE
           MOVE "charge" TO TPS-NAME
           PERFORM FIND-STEP
           IF TP-NONE
               PERFORM WRITE-STEP
               MOVE "receipt 4711" TO WS-TEXT
               PERFORM STEP-DONE
           END-IF
           IF TP-OK
               MOVE "label" TO TPS-NAME
               PERFORM FIND-STEP
               IF TP-NONE
                   PERFORM WRITE-STEP
                   STRING "label of order " DELIMITED BY SIZE
                       WS-PARAMS DELIMITED BY SPACE INTO WS-TEXT
                   PERFORM STEP-DONE
               END-IF
           END-IF
           IF TP-OK
               MOVE WS-TEXT TO WS-LABEL
               MOVE "mail" TO TPS-NAME
               PERFORM FIND-STEP
               IF TP-NONE
                   PERFORM WRITE-STEP
                   PERFORM PUT-MAIL
                   PERFORM STEP-DONE
               END-IF
           END-IF
           IF TP-OK
               MOVE LENGTH OF WS-LABEL TO TPR-RESULT-SIZE
               CALL "TP_RESULT" USING TP-AREA TP-TASK TP-RESULT
                   WS-LABEL
           END-IF
           IF TP-OK
               SET TPT-RUN-DONE TO TRUE
           ELSE
               MOVE TPA-TEXT TO TPT-REASON
               PERFORM SHOW-FAILURE
           END-IF.

      *> TP-OK: it is done, and WS-TEXT is its result.
       FIND-STEP.
           MOVE SPACES TO WS-TEXT
           MOVE LENGTH OF WS-TEXT TO TPS-RESULT-SIZE
           CALL "TP_STEP_FIND" USING TP-AREA TP-TASK TP-STEP WS-TEXT.

      *> A failure before it dooms the transaction, and so this call.
       STEP-DONE.
           CALL "TP_STEP_DONE" USING TP-AREA TP-TASK TP-STEP WS-TEXT.

       WRITE-STEP.
           INITIALIZE TP-STMT
           MOVE "INSERT INTO cob_shipped (task_id, step) VALUES (?, ?)"
               TO TPQ-TEXT
           MOVE 2 TO TPQ-COUNT
           MOVE TPT-ID TO TPQ-VALUE (1)
           MOVE TPS-NAME TO TPQ-VALUE (2)
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT.

       PUT-MAIL.
           INITIALIZE TP-NEW
           MOVE "mail" TO TPN-HANDLER
           MOVE TPT-ID TO TPN-BIZ-KEY
           MOVE LENGTH OF WS-LABEL TO TPN-PARAMS-SIZE
           CALL "TP_ENQUEUE" USING TP-AREA WS-CONN TP-NEW WS-LABEL.

       SHOW-FAILURE.
           DISPLAY "SHIPWORK: " TPA-NAME TPA-TEXT (1:200) UPON SYSERR.
