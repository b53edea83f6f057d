      *> SHIPPED TASK: how often each step of SHIPWORK was done for it.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHIPPED.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-TASK                 PIC X(36).
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT WS-TASK FROM ARGUMENT-VALUE
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           MOVE "SELECT COUNT(*) FROM cob_shipped WHERE task_id = ?"
             & " AND step = ?" TO TPQ-TEXT
           MOVE 2 TO TPQ-COUNT
           MOVE WS-TASK TO TPQ-VALUE (1)
           MOVE "charge" TO TPQ-VALUE (2)
           PERFORM SHOW-COUNT
           MOVE "label" TO TPQ-VALUE (2)
           PERFORM SHOW-COUNT
           MOVE "mail" TO TPQ-VALUE (2)
           PERFORM SHOW-COUNT
           CALL "TP_ROLLBACK" USING TP-AREA WS-CONN
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           STOP RUN.

       SHOW-COUNT.
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           IF TP-FAILURE
               DISPLAY TPA-TEXT (1:200)
               STOP RUN RETURNING 1
           END-IF
           DISPLAY FUNCTION TRIM (TPQ-VALUE (2)) "="
               FUNCTION TRIM (TPQ-RESULT (1)) " "
               WITH NO ADVANCING.
