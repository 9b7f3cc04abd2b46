package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// script is what perf prints of two programs, one of whose names has a space.
const script = `kube-apiserver   41 
	  25931 runtime.futex (/bin/kube-apiserver)
	  25a00 [unknown] (/nowhere (deleted))

tmux: server  7 
	ffffffff81000010 do_epoll_wait ([kernel.kallsyms])
	ffffffff81000020 entry_SYSCALL_64 ([kernel.kallsyms])

kube-apiserver   41 
	  25931 runtime.futex (/bin/kube-apiserver)

`

func TestRead(t *testing.T) {
	s, err := read(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	var stacks []string
	for _, sample := range s.profile.Sample {
		stack := sample.Label[label][0]
		for _, l := range sample.Location {
			stack += ";" + l.Line[0].Function.Name
		}
		stacks = append(stacks, stack)
	}
	want := []string{"kube-apiserver;runtime.futex;[unknown]", "tmux: server;kernel: do_epoll_wait;kernel: entry_SYSCALL_64", "kube-apiserver;runtime.futex"}
	if !reflect.DeepEqual(stacks, want) {
		t.Errorf("%q, want %q", stacks, want)
	}
	var table bytes.Buffer
	s.writeTable(&table)
	if got, want := strings.Fields(table.String()), strings.Fields("PROGRAM CPU-S kube-apiserver 0.00 tmux: server 0.00"); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := s.profile.CheckValid(); err != nil {
		t.Error(err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, wrong := range []string{"etcd\n", "etcd 4\nzz main (/bin/etcd)\n", "etcd 4\n10 main\n"} {
		if _, err := read(strings.NewReader(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// A Go program's own table names a function where its symbols are gone, by its place in the file.
func TestFunctionOfTable(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	address := uint64(reflect.ValueOf(TestFunctionOfTable).Pointer())
	for _, p := range program.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address < p.Vaddr+p.Filesz {
			line := fmt.Sprintf("%x [unknown] (%s)", address-p.Vaddr+p.Off, self)
			name, err := (&seen{tables: tables{}}).frame(line)
			if want := "nodestorm/harness/cmd/devtools/profile.TestFunctionOfTable"; err != nil || name != want && name != "main.TestFunctionOfTable" {
				t.Errorf("%q is %q, %v, want %s", line, name, err, want)
			}
			return
		}
	}
	t.Skip("the program is not where its file says: a position-independent one")
}
