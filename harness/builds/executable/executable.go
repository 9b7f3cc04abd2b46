// Package executable has what a program says of itself: the machine that it is for, and how Go built it.
package executable

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"

	"nodestorm/harness/builds"
)

// Inspect fills in what the program in file says of itself, and makes sure that
// this machine can run it.
func Inspect(file string, m *builds.Manifest) error {
	f, err := elf.Open(file)
	if bad := (*elf.FormatError)(nil); errors.As(err, &bad) || errors.Is(err, io.EOF) {
		return errors.New("is not a Linux program (ELF); name a compiled one")
	} else if err != nil {
		return err
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN || f.Entry == 0 {
		return errors.New("is an ELF file, but not a program; name a compiled one")
	}
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if f.Machine != machine {
		return fmt.Errorf("is for another machine: %s, and this one is %s", f.Machine, machine)
	}
	// A program that is not Go's has no build information, and needs none.
	if info, err := buildinfo.ReadFile(file); err == nil {
		m.GoVersion = info.GoVersion
		m.Source.Module, m.Source.Version, m.Source.Package = info.Main.Path, info.Main.Version, info.Path
		m.Race = slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	}
	return nil
}

// GoOf is the Go that built a program of this machine, "go1.24.6"; empty if it is not Go's.
func GoOf(file string) (string, error) {
	var m builds.Manifest
	err := Inspect(file, &m)
	return m.GoVersion, err
}
