//go:build linux

#include "textflag.h"

// As in vdso_amd64.s: the clock in R0, a timespec's address in R1.
TEXT replacement<>(SB), NOSPLIT|NOFRAME, $0
	WORD $0x1000000b // ADR 0(PC), R11
	AND  $~0xfff, R11
	MOVD 4080(R11), R10 // the original
	CMPW $0, R0 // CLOCK_REALTIME
	BEQ  virtual
	CMPW $1, R0 // CLOCK_MONOTONIC
	BEQ  virtual
	CMPW $4, R0 // CLOCK_MONOTONIC_RAW
	BEQ  virtual
	CMPW $5, R0 // CLOCK_REALTIME_COARSE
	BEQ  virtual
	CMPW $6, R0 // CLOCK_MONOTONIC_COARSE
	BEQ  virtual
	CMPW $7, R0 // CLOCK_BOOTTIME
	BEQ  virtual
	MOVD $113, R8 // another one: clock_gettime of the kernel
	SVC
	RET

virtual:
	SUB  $80, RSP
	MOVD R19, 16(RSP)
	MOVD R20, 24(RSP)
	MOVD R21, 32(RSP)
	MOVD R22, 40(RSP)
	MOVD R23, 48(RSP)
	MOVD R29, 56(RSP)
	MOVD R30, 64(RSP)
	MOVD R0, R19
	MOVD R1, R20
	MOVD R10, R21
	MOVD 4088(R11), R22 // the clock page

again:
	MOVD 8(R22), R23 // seq
	DMB  $0x9 // loads that follow stay behind
	MOVD $1, R0
	MOVD RSP, R1
	BL   (R21)
	MOVD (RSP), R2
	MOVD $1000000000, R3
	MUL  R3, R2
	MOVD 8(RSP), R4
	ADD  R4, R2 // raw time
	AND  $1, R23, R5
	LSL  $5, R5
	ADD  R22, R5 // the setting, behind 16 bytes
	MOVD 16(R5), R6
	SUB  R6, R2
	MOVD 24(R5), R8
	MOVD 32(R5), R9
	DMB  $0x9
	MOVD 8(R22), R6
	CMP  R23, R6
	BNE  again
	CMP  $1000, R9
	BEQ  plain
	MOVD $1000, R3
	SDIV R3, R2, R4
	MSUB R3, R2, R4, R5 // what is left
	MUL  R9, R4
	ADD  R4, R8
	MUL  R9, R5
	SDIV R3, R5, R2

plain:
	ADD  R2, R8
	CMPW $0, R19
	BEQ  wall
	CMPW $5, R19
	BNE  store

wall:
	MOVD 40(R22), R6
	ADD  R6, R8

store:
	MOVD $1000000000, R3
	SDIV R3, R8, R4
	MSUB R3, R8, R4, R5
	MOVD R4, (R20)
	MOVD R5, 8(R20)
	MOVD $0, R0
	MOVD 16(RSP), R19
	MOVD 24(RSP), R20
	MOVD 32(RSP), R21
	MOVD 40(RSP), R22
	MOVD 48(RSP), R23
	MOVD 56(RSP), R29
	MOVD 64(RSP), R30
	ADD  $80, RSP
	RET

TEXT replacementEnd<>(SB), NOSPLIT|NOFRAME, $0
	RET

// func replacementBounds() (begin, end *byte)
TEXT ·replacementBounds(SB), NOSPLIT, $0-16
	MOVD $replacement<>(SB), R0
	MOVD R0, begin+0(FP)
	MOVD $replacementEnd<>(SB), R0
	MOVD R0, end+8(FP)
	RET
