package main

import (
	"debug/elf"
	"debug/gosym"
)

// tables are those of programs, by their files.
type tables map[string]*table

// table says which function of a Go program is at an address; a nil one knows none.
type table struct {
	loads []elf.ProgHeader
	lines *gosym.Table
}

// of is the table of a file; nil, if it is no Go program.
func (t tables) of(file string) *table {
	found, known := t[file]
	if !known {
		found = open(file)
		t[file] = found
	}
	return found
}

// open reads a program's table of lines, which linking without symbols leaves in.
func open(file string) *table {
	program, err := elf.Open(file)
	if err != nil {
		return nil
	}
	defer program.Close()
	text, lines := program.Section(".text"), program.Section(".gopclntab")
	if text == nil || lines == nil {
		return nil
	}
	data, err := lines.Data()
	if err != nil {
		return nil
	}
	parsed, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil
	}
	t := &table{lines: parsed}
	for _, p := range program.Progs {
		if p.Type == elf.PT_LOAD {
			t.loads = append(t.loads, p.ProgHeader)
		}
	}
	return t
}

// function is the name of the one at an offset of the file, or "".
func (t *table) function(offset uint64) string {
	if t == nil {
		return ""
	}
	for _, load := range t.loads {
		if offset < load.Off || offset >= load.Off+load.Filesz {
			continue
		}
		if f := t.lines.PCToFunc(offset - load.Off + load.Vaddr); f != nil {
			return f.Name
		}
	}
	return ""
}
