package buildstore

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"

	"nodestorm/harness/builds"
)

// inspect fills in what the program in file says of itself, and makes sure that
// this machine can run it.
func inspect(file string, m *builds.Manifest) error {
	f, err := elf.Open(file)
	if bad := (*elf.FormatError)(nil); errors.As(err, &bad) || errors.Is(err, io.EOF) {
		return errors.New("is no Linux program (ELF)")
	} else if err != nil {
		return err
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN || f.Entry == 0 {
		return errors.New("is an ELF file, and no program")
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
	err := inspect(file, &m)
	return m.GoVersion, err
}

// copyInto copies a file.
func copyInto(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(to, in, 0o644)
}

// copyOf copies a file of root, or a folder with all that is in it. A link becomes what it
// leads to, so that the copy stands alone; nothing outside of root is read.
func copyOf(to string, root *os.Root, from string) error {
	info, err := root.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyFileOf(to, root, from, info)
	}
	return fs.WalkDir(root.FS(), filepath.ToSlash(from), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, filepath.FromSlash(path))
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, inside), 0o755)
		}
		info, err := root.Stat(path)
		if err != nil {
			return err
		}
		return copyFileOf(filepath.Join(to, inside), root, path, info)
	})
}

func copyFileOf(to string, root *os.Root, from string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file, but %s", from, info.Mode().Type())
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return writeFile(to, in, 0o644|info.Mode()&0o111)
}

func writeFile(to string, in io.Reader, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// hashFile is the hex SHA-256 of a file and its size in bytes.
func hashFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// syncTree makes sure that all below dir is on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return syncPath(path)
	})
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
