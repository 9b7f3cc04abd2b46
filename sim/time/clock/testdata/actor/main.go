// Actor is a program of a world that does what its first argument says, after
// it has said "ready" and the virtual time.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	_ "unsafe"
)

//go:linkname stormLag runtime.stormLag
func stormLag(late int64)

func main() {
	fmt.Println("ready", time.Now().UnixNano())
	switch os.Args[1] {
	case "tick": // at an interval, until it is ended
		interval, err := time.ParseDuration(os.Args[2])
		if err != nil {
			panic(err)
		}
		for now := range time.Tick(interval) {
			fmt.Println(now.UnixNano())
		}
	case "spin": // is never idle
		for i := 0; ; i++ {
		}
	case "doze": // waits for the kernel, as for a disk
		for {
			if err := syscall.Nanosleep(&syscall.Timespec{Nsec: 1e6}, nil); err != nil && err != syscall.EINTR {
				panic(err)
			}
		}
	case "signal": // has a poller, but nothing it would have to wait for there
		time.AfterFunc(time.Hour, func() {}).Stop()
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		<-c
	case "write": // a file, ten times a second
		for range time.Tick(time.Second / 10) {
			if err := os.WriteFile(os.Args[2], []byte("line\n"), 0o600); err != nil {
				panic(err)
			}
			fmt.Println("written")
		}
	case "run": // another program
		_ = exec.Command(os.Args[2]).Run()
		fmt.Println("done")
		os.Stdin.Read(make([]byte, 1))
	case "lag": // says that timers were as late as the arguments
		for _, arg := range os.Args[2:] {
			late, err := strconv.ParseInt(arg, 10, 64)
			if err != nil {
				panic(err)
			}
			stormLag(late)
		}
		fmt.Println("done")
		os.Stdin.Read(make([]byte, 1))
	}
}
