      *> PAID PREFIX: how many payments there are to employees whose
      *> number begins so, to how many of them, and how much in all.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. PAID.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-PREFIX               PIC X(6) VALUE SPACES.
       PROCEDURE DIVISION.
       MAIN.
           ACCEPT WS-PREFIX FROM ARGUMENT-VALUE
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           CALL "TP_CONNECT" USING TP-AREA WS-ENV WS-CONN
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           MOVE "SELECT COUNT(*), COUNT(DISTINCT employee), SUM(amount)"
             & " FROM cob_paid WHERE employee LIKE ?" TO TPQ-TEXT
           MOVE 1 TO TPQ-COUNT
           STRING WS-PREFIX "%" DELIMITED BY SIZE INTO TPQ-VALUE (1)
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           IF TP-FAILURE
               DISPLAY TPA-TEXT (1:200)
               STOP RUN RETURNING 1
           END-IF
           DISPLAY FUNCTION TRIM (TPQ-RESULT (1)) " "
               FUNCTION TRIM (TPQ-RESULT (2)) " "
               FUNCTION TRIM (TPQ-RESULT (3))
           CALL "TP_ROLLBACK" USING TP-AREA WS-CONN
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           STOP RUN.
