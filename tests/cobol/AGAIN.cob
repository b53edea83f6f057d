      *> AGAIN: a task's first try gives a result, the next one none.
      *> There is a next one where the commit of the first fails.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. AGAIN.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPCLAIM.
       COPY TPTASK.
       COPY TPRESULT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-PARAMS               PIC X(40).
       01  WS-RESULT               PIC X(40) VALUE "of the first try".
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           MOVE 1 TO TPC-HANDLER-COUNT
           MOVE "again" TO TPC-HANDLER (1)
           MOVE LENGTH OF WS-PARAMS TO TPT-PARAMS-SIZE
           PERFORM STEP-ONE
           MOVE LENGTH OF WS-RESULT TO TPR-RESULT-SIZE
           CALL "TP_RESULT" USING TP-AREA TP-TASK TP-RESULT
               WS-RESULT
           PERFORM SHOW-STATUS
           PERFORM SETTLE
           PERFORM STEP-ONE
           PERFORM SETTLE
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           STOP RUN.

       STEP-ONE.
           CALL "TP_STEP" USING TP-AREA WS-CONN TP-CLAIM TP-TASK
               WS-PARAMS
           PERFORM SHOW-STATUS.

       SETTLE.
           SET TPT-RUN-DONE TO TRUE
           CALL "TP_SETTLE" USING TP-AREA WS-CONN TP-CLAIM TP-TASK
           PERFORM SHOW-STATUS.

       SHOW-STATUS.
           EVALUATE TRUE
               WHEN TP-OK
                   DISPLAY "ok " WITH NO ADVANCING
               WHEN TP-DISCONNECTED
                   DISPLAY "disconnected " WITH NO ADVANCING
               WHEN OTHER
                   DISPLAY TPA-TEXT (1:200)
           END-EVALUATE.
