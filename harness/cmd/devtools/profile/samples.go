package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"
)

// perSample is the processor time that one sample stands for.
const perSample = int64(time.Second) / perHertz

// label is the one by which samples name their program.
const label = "program"

// seen is what was seen: a profile whose samples have the names of their programs.
type seen struct {
	profile   *profile.Profile
	functions map[string]*profile.Location
	programs  map[string]int // samples
	tables    tables
}

// read reads what perf script prints: for each sample a line with its program and process,
// then one for each frame, innermost first, and an empty line.
func read(script io.Reader) (*seen, error) {
	s := &seen{
		profile: &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}},
			PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
			Period:     perSample,
		},
		functions: map[string]*profile.Location{},
		programs:  map[string]int{},
		tables:    tables{},
	}
	lines := bufio.NewScanner(script)
	lines.Buffer(nil, 1<<20)
	program, frames := "", []*profile.Location(nil)
	end := func() {
		if program != "" {
			s.add(program, frames)
		}
		program, frames = "", nil
	}
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case program == "":
			fields := strings.Fields(line)
			if len(fields) < 2 {
				return nil, fmt.Errorf("%q begins no sample", line)
			}
			program = strings.Join(fields[:len(fields)-1], " ")
		default:
			name, err := s.frame(line)
			if err != nil {
				return nil, err
			}
			frames = append(frames, s.location(name))
		}
	}
	end()
	return s, lines.Err()
}

// frame is the name of the function of a line such as "  25931 [unknown] (/bin/etcd)". Of a
// Go program without symbols its own table says it.
func (s *seen) frame(line string) (string, error) {
	address, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	at, err := strconv.ParseUint(address, 16, 64)
	dso := max(strings.LastIndex(rest, " (/"), strings.LastIndex(rest, " ([")) // "(/memfd:x (deleted))" too
	if err != nil || dso < 0 {
		return "", fmt.Errorf("%q is no frame of a sample", line)
	}
	name, file := rest[:dso], strings.TrimSuffix(rest[dso+2:], ")")
	if name == "[unknown]" {
		name = cmp.Or(s.tables.of(file).function(at), name)
	}
	if file == "[kernel.kallsyms]" {
		name = "kernel: " + name
	}
	return name, nil
}

// location is the one of a function, in which places are not distinguished.
func (s *seen) location(name string) *profile.Location {
	if l, known := s.functions[name]; known {
		return l
	}
	f := &profile.Function{ID: uint64(len(s.profile.Function) + 1), Name: name, SystemName: name}
	s.profile.Function = append(s.profile.Function, f)
	l := &profile.Location{ID: uint64(len(s.profile.Location) + 1), Line: []profile.Line{{Function: f}}}
	s.profile.Location = append(s.profile.Location, l)
	s.functions[name] = l
	return l
}

func (s *seen) add(program string, frames []*profile.Location) {
	s.programs[program]++
	s.profile.Sample = append(s.profile.Sample, &profile.Sample{
		Location: frames, Value: []int64{perSample}, Label: map[string][]string{label: {program}},
	})
}

// writeTable prints how much each program has worked, those that did most first.
func (s *seen) writeTable(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PROGRAM\tCPU-S")
	for _, name := range slices.SortedFunc(maps.Keys(s.programs), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.programs[b], s.programs[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(table, "%s\t%.2f\n", name, (time.Duration(s.programs[name]) * time.Duration(perSample)).Seconds())
	}
	_ = table.Flush()
}
