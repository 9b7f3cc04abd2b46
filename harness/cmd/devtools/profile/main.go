// Command profile says what the processors do while a command runs, in all of the processes
// that it starts:
//
//	go run ./profile [-out FOLDER] COMMAND [ARGUMENT...]
//
// It leaves a flame graph for a browser (profile.html), and the profile that go tool pprof
// reads (profile.pb.gz). Linux's perf takes the samples: it changes nothing in a program,
// starts no thread in it, and knows the kernel's part, which is large where programs mostly
// wake and go to sleep again. Exit status: 0, 1 the command has failed, 2 nothing could be measured.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
)

// perHertz is how often a second of processor time samples are taken: no divisor of timers'
// usual rates, which would then always be seen at the same place.
const perHertz = 997

func main() {
	out := flag.String("out", "reports/out/profile", "the `folder` for profile.html and profile.pb.gz, which is made")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: profile [-out FOLDER] COMMAND [ARGUMENT...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := profileCommand(ctx, flag.Args(), *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		if exited := new(exec.ExitError); errors.As(err, &exited) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// profileCommand runs the command, and writes what was seen of it into the folder, and how much
// each program has worked to log.
func profileCommand(ctx context.Context, command []string, folder string, log io.Writer) error {
	perf, err := exec.LookPath("perf")
	if err != nil {
		return fmt.Errorf("no perf to take samples with; apt-get install linux-perf: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "nodestorm-profile-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	data := filepath.Join(tmp, "perf.data")
	record := exec.CommandContext(ctx, perf, append([]string{"record", "--quiet", "--event=cpu-clock", "--freq=" + strconv.Itoa(perHertz),
		"--call-graph=fp", "--output=" + data, "--"}, command...)...)
	record.Cancel = func() error { return record.Process.Signal(os.Interrupt) } // perf ends the command, and writes
	record.Stdout, record.Stderr = log, os.Stderr
	failed := record.Run()
	script := exec.Command(perf, "script", "--input="+data, "--fields=comm,pid,ip,sym,dso", "--no-inline")
	var complaints bytes.Buffer
	script.Stderr = &complaints
	samples, err := script.StdoutPipe()
	if err != nil {
		return err
	}
	if err := script.Start(); err != nil {
		return errors.Join(failed, err)
	}
	seen, err := read(samples)
	if err := errors.Join(err, script.Wait()); err != nil {
		return errors.Join(failed, fmt.Errorf("reading perf's samples: %w\n%s", err, complaints.String()))
	}
	if len(seen.profile.Sample) == 0 {
		return errors.Join(failed, errors.New("perf has seen nothing; is /proc/sys/kernel/perf_event_paranoid above 2?"))
	}
	if err := seen.write(folder); err != nil {
		return errors.Join(failed, err)
	}
	seen.writeTable(log)
	fmt.Fprintf(log, "%s\n", filepath.Join(folder, page))
	return failed
}
