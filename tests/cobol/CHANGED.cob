      *> CHANGED: how many rows a statement says that it has changed,
      *> which changes none.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. CHANGED.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-ROWS                 PIC -(8)9.
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           MOVE "UPDATE cob_paid SET amount = 0 WHERE employee = ?"
             TO TPQ-TEXT
           MOVE 1 TO TPQ-COUNT
           MOVE "nobody" TO TPQ-VALUE (1)
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           IF TP-FAILURE
               DISPLAY TPA-TEXT (1:200)
               STOP RUN RETURNING 1
           END-IF
           MOVE TPQ-ROWS TO WS-ROWS
           DISPLAY FUNCTION TRIM (WS-ROWS)
           CALL "TP_ROLLBACK" USING TP-AREA WS-CONN
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           STOP RUN.
