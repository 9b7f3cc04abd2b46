//go:build linux

#include "textflag.h"

// What the vDSO's clock_gettime is replaced by in a guest, see vdso.go. It is copied, and so
// must not depend on where it is: it finds what it needs in the last two words of its page.
// It is called as C functions are: the clock in DI, a timespec's address in SI.
//
// It computes what setting.at does.
TEXT replacement<>(SB), NOSPLIT|NOFRAME, $0
	BYTE $0x4c; BYTE $0x8d; BYTE $0x1d; LONG $0 // LEAQ 0(IP), R11
	ANDQ $~0xfff, R11
	MOVQ 4080(R11), AX // the original
	CMPL DI, $0 // CLOCK_REALTIME
	JEQ  virtual
	CMPL DI, $1 // CLOCK_MONOTONIC
	JEQ  virtual
	CMPL DI, $4 // CLOCK_MONOTONIC_RAW
	JEQ  virtual
	CMPL DI, $5 // CLOCK_REALTIME_COARSE
	JEQ  virtual
	CMPL DI, $6 // CLOCK_MONOTONIC_COARSE
	JEQ  virtual
	CMPL DI, $7 // CLOCK_BOOTTIME
	JEQ  virtual
	MOVL $228, AX // another one: clock_gettime of the kernel
	SYSCALL
	RET

virtual:
	PUSHQ BX
	PUSHQ BP
	PUSHQ R12
	PUSHQ R13
	PUSHQ R14
	SUBQ  $16, SP
	MOVL  DI, BX
	MOVQ  SI, R12
	MOVQ  AX, R13
	MOVQ  4088(R11), R14 // the clock page

again:
	MOVQ  8(R14), BP // seq
	MOVL  $1, DI
	MOVQ  SP, SI
	CALL  R13
	MOVQ  (SP), AX
	IMULQ $1000000000, AX
	ADDQ  8(SP), AX // raw time
	MOVQ  BP, CX
	ANDQ  $1, CX
	SHLQ  $5, CX
	ADDQ  R14, CX // the setting, behind 16 bytes
	SUBQ  16(CX), AX
	MOVQ  24(CX), R8
	MOVQ  32(CX), R9
	CMPQ  8(R14), BP
	JNE   again
	CMPQ  R9, $1000
	JEQ   plain
	CQO
	MOVQ  $1000, SI
	IDIVQ SI
	IMULQ R9, AX
	ADDQ  AX, R8
	MOVQ  DX, AX
	IMULQ R9, AX
	CQO
	IDIVQ SI

plain:
	ADDQ AX, R8
	CMPL BX, $0
	JEQ  wall
	CMPL BX, $5
	JNE  store

wall:
	ADDQ 40(R14), R8

store:
	MOVQ  R8, AX
	CQO
	MOVQ  $1000000000, CX
	IDIVQ CX
	MOVQ  AX, (R12)
	MOVQ  DX, 8(R12)
	XORL  AX, AX
	ADDQ  $16, SP
	POPQ  R14
	POPQ  R13
	POPQ  R12
	POPQ  BP
	POPQ  BX
	RET

TEXT replacementEnd<>(SB), NOSPLIT|NOFRAME, $0
	RET

// func replacementBounds() (begin, end *byte)
TEXT ·replacementBounds(SB), NOSPLIT, $0-16
	LEAQ replacement<>(SB), AX
	MOVQ AX, begin+0(FP)
	LEAQ replacementEnd<>(SB), AX
	MOVQ AX, end+8(FP)
	RET
