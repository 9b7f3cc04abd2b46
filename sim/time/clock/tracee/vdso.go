//go:build linux && (amd64 || arm64)

package tracee

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/overlay"
)

// A program reads the time through a function of the vDSO, a small library that the kernel maps
// into every process, and finds it by its name: Go's runtime and C libraries alike. So the
// value of that name is what has to change for a program to live in virtual time, and nothing of
// the program. A program without the library asks the kernel, which informs us, see package clock.

// replacementBounds are those of the function that takes the place of the vDSO's.
func replacementBounds() (begin, end *byte)

// replacement is that function: it may be put at the beginning of any page, with the address
// of the original and of the clock page in the last two words.
func replacement() []byte {
	begin, end := replacementBounds()
	return bytes.Clone(unsafe.Slice(begin, uintptr(unsafe.Pointer(end))-uintptr(unsafe.Pointer(begin))))
}

const codePage = 4096

// VirtualTime has the Tracee read its time from the clock page at path.
func (t *Tracee) VirtualTime(path string) error {
	here := unix.AT_FDCWD
	fd := t.call("opening the clock page", unix.SYS_OPENAT, uintptr(here), t.leave(text(path)), unix.O_RDONLY|unix.O_CLOEXEC)
	page := t.call("mapping the clock page", unix.SYS_MMAP, 0, overlay.PageSize, unix.PROT_READ, unix.MAP_SHARED, fd, 0)
	t.call("closing the clock page", unix.SYS_CLOSE, fd)
	code := t.call("making room", unix.SYS_MMAP, 0, codePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS,
		^uintptr(0), 0)
	if t.err != nil {
		return t.err
	}
	original, err := t.divert(code)
	if err != nil {
		return err
	}
	text := replacement()
	if len(text) > codePage-16 {
		return fmt.Errorf("the clock's code has %d bytes", len(text))
	}
	t.poke(code, text)
	t.poke(code+codePage-16, binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, uint64(original)), uint64(page)))
	t.call("making code of it", unix.SYS_MPROTECT, code, codePage, unix.PROT_READ|unix.PROT_EXEC)
	return t.err
}

// divert has the vDSO's names for the reading of clocks stand for another place, and returns
// the one they stood for. What else of it reads a clock is hidden.
func (t *Tracee) divert(to uintptr) (original uintptr, err error) {
	vdso, err := Auxiliary(t.pid, AtVDSO)
	if err != nil {
		return 0, err
	}
	if vdso == 0 {
		return 0, errors.New("the kernel gives programs no vDSO (vdso=0?), by which they read the time")
	}
	base := uintptr(vdso)
	image := t.peek(base, VDSOSize)
	if t.err != nil {
		return 0, fmt.Errorf("reading the vDSO: %w", t.err)
	}
	for i, name := range clocksInVDSO {
		at, value, err := symbol(image, name)
		if err != nil {
			if i > 0 { // an alias
				continue
			}
			return 0, fmt.Errorf("in the vDSO: %w", err)
		}
		original = base + value
		// mutant: a guest's clocks are not those of the world
		t.poke(base+at+valueInSymbol, binary.NativeEndian.AppendUint64(nil, uint64(to-base)))
	}
	for _, name := range hiddenInVDSO {
		if at, _, err := symbol(image, name); err == nil {
			t.poke(base+at+sectionInSymbol, []byte{byte(elf.SHN_UNDEF), 0})
		}
	}
	return original, t.err
}

const (
	valueInSymbol   = unsafe.Offsetof(elf.Sym64{}.Value)
	sectionInSymbol = unsafe.Offsetof(elf.Sym64{}.Shndx)
)

// VDSOSize is what is read of a vDSO: its tables are in the first of its two or so pages.
const VDSOSize = 4096

// Auxiliary is what the kernel passes to a process about itself, see getauxval(3); 0 if it does not.
func Auxiliary(pid int, what uint64) (uint64, error) {
	vector, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/auxv")
	if err != nil {
		return 0, err
	}
	for ; len(vector) >= 16; vector = vector[16:] {
		if binary.NativeEndian.Uint64(vector) == what {
			return binary.NativeEndian.Uint64(vector[8:]), nil
		}
	}
	return 0, nil
}

const (
	AtEntry = 9
	AtVDSO  = 33
)

// symbol finds a name in the dynamic symbols of an image, of which there may be no more than
// its beginning, and returns where the symbol is, and its value.
func symbol(image []byte, name string) (at, value uintptr, err error) {
	var header elf.Header64
	if err := binary.Read(bytes.NewReader(image), binary.NativeEndian, &header); err != nil || string(header.Ident[:4]) != elf.ELFMAG {
		return 0, 0, errors.New("it is no ELF image")
	}
	read := func(at uint64, into any) bool {
		return at < uint64(len(image)) && binary.Read(bytes.NewReader(image[at:]), binary.NativeEndian, into) == nil
	}
	var table, names uint64
	for i := range uint64(header.Phnum) {
		var p elf.Prog64
		if !read(header.Phoff+i*uint64(header.Phentsize), &p) || elf.ProgType(p.Type) != elf.PT_DYNAMIC {
			continue
		}
		for at := p.Off; ; at += 16 {
			var d elf.Dyn64
			if !read(at, &d) || d.Tag == int64(elf.DT_NULL) {
				break
			}
			switch elf.DynTag(d.Tag) {
			case elf.DT_SYMTAB:
				table = d.Val
			case elf.DT_STRTAB:
				names = d.Val
			}
		}
	}
	const size = elf.Sym64Size
	for at := table + size; table > 0 && at < names; at += size { // the names follow the symbols
		var s elf.Sym64
		if !read(at, &s) || names+uint64(s.Name) >= uint64(len(image)) {
			break
		}
		is, _, _ := bytes.Cut(image[names+uint64(s.Name):], []byte{0})
		if string(is) == name {
			return uintptr(at), uintptr(s.Value), nil
		}
	}
	return 0, 0, fmt.Errorf("there is no %s", name)
}
