//go:build linux && (amd64 || arm64)

package tracee

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Image says of a program's file what is to be known of how it waits.
type Image struct {
	// own are the places, relative to entry, behind the instructions by which Go's runtime sleeps
	// and waits for other threads: up to 10 ms, or for what it does for itself, which may as
	// well take real time. Empty of a program in which no Go runtime is seen.
	own []uint64
	// poll are the functions, relative to entry, in which Go's runtime waits for events.
	poll  []span
	entry uint64
}

type span struct{ begin, end uint64 }

// images are those looked at so far, one after the other: programs that start together are often of
// the same file.
var images = struct {
	sync.Mutex
	known map[imageID]Image
}{known: map[imageID]Image{}}

type imageID struct {
	device, inode uint64
	size, changed int64
}

// ImageOf looks at the file of a process.
func ImageOf(pid int) (Image, error) {
	path := fmt.Sprintf("/proc/%d/exe", pid)
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return Image{}, err
	}
	id := imageID{s.Dev, s.Ino, s.Size, s.Mtim.Nano()}
	images.Lock()
	defer images.Unlock()
	if m, ok := images.known[id]; ok {
		return m, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return Image{}, err
	}
	defer f.Close()
	m, err := readImage(f)
	if err != nil {
		return Image{}, err
	}
	images.known[id] = m
	return m, nil
}

// longestBody is more than those functions of Go's runtime have that are looked into, in bytes.
const longestBody = 1 << 16

// readImage takes a file as hostile: what cannot be read of it is as if it were not there.
func readImage(f *os.File) (m Image, err error) {
	program, err := elf.NewFile(f)
	if err != nil {
		return Image{}, fmt.Errorf("reading the program: %w", err)
	}
	m.entry = program.Entry
	text := program.Section(".text")
	table := program.Section(".gopclntab")
	if table == nil {
		table = program.Section(".data.rel.ro.gopclntab")
	}
	if text == nil || text.ReaderAt == nil || table == nil { // one that is compressed cannot be read in places
		return m, nil
	}
	lines, err := table.Data()
	if err != nil {
		return m, nil
	}
	functions, err := gosym.NewTable(nil, gosym.NewLineTable(lines, text.Addr))
	if err != nil {
		return m, nil
	}
	for i := range functions.Funcs {
		switch f := &functions.Funcs[i]; f.Name {
		case "runtime.netpoll", "runtime.epollwait", "runtime/internal/syscall.EpollWait", "internal/runtime/syscall.EpollWait",
			"internal/runtime/syscall/linux.EpollWait":
			m.poll = append(m.poll, span{f.Entry - m.entry, f.End - m.entry})
		case "runtime.usleep", "runtime.futex":
			if f.Entry < text.Addr || f.End < f.Entry || f.End-f.Entry > longestBody {
				return Image{entry: m.entry}, nil
			}
			body := make([]byte, f.End-f.Entry)
			if _, err := text.ReadAt(body, int64(f.Entry-text.Addr)); err != nil { // beyond its end, for one
				return Image{entry: m.entry}, nil
			}
			for at := 0; ; {
				next := bytes.Index(body[at:], systemCall)
				if next < 0 {
					break
				}
				at += next + len(systemCall)
				m.own = append(m.own, f.Entry+uint64(at)-m.entry)
			}
		}
	}
	if len(m.own) > 8 {
		return Image{entry: m.entry}, nil // no runtime looks like this
	}
	return m, nil
}

// In are the places in a process whose code begins at entry.
func (m Image) In(entry uint64) (places []uint64) {
	for _, p := range m.own {
		places = append(places, p+entry)
	}
	return slices.Clip(places)
}

// Polls reports whether an instruction, relative to entry, is of Go's runtime, where it waits
// for events.
func (m Image) Polls(at uint64) bool {
	for _, s := range m.poll {
		if at-s.begin <= s.end-s.begin {
			return true
		}
	}
	return false
}
