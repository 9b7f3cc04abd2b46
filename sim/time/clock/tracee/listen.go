//go:build linux && (amd64 || arm64)

package tracee

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Listen has the tracee install a filter that reports its waits to us, and hand us the end that
// hears of them, by way of a socket in the folder.
func (t *Tracee) Listen(folder string, code []unix.SockFilter) (listener int, err error) {
	path := filepath.Join(folder, fmt.Sprintf("listener-%d", t.pid))
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return -1, err
	}
	defer socket.Close()
	address := text("\x01\x00" + path)
	if len(path) > 100 {
		return -1, fmt.Errorf("%s is too long for a socket's name: use a shorter folder for temporary files (TMPDIR)", path)
	}
	fd := t.call("making a socket", unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	t.call("connecting to us", unix.SYS_CONNECT, fd, t.leave(address), uintptr(len(address)))
	t.call("forbidding new privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	filter := t.leaveFilter(code)
	notify := t.call("installing a seccomp filter with a listener", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, filter)
	message := t.message(notify)
	t.call("handing us the listener", unix.SYS_SENDMSG, fd, message, 0)
	t.call("closing the listener", unix.SYS_CLOSE, notify)
	t.call("closing the socket", unix.SYS_CLOSE, fd)
	if t.err != nil {
		return -1, t.err
	}
	return receive(socket)
}

// message leaves a message with a descriptor in the tracee.
func (t *Tracee) message(fd uintptr) uintptr {
	at := t.room()
	control := unix.UnixRights(int(fd))
	words := func(values ...uintptr) (data []byte) {
		for _, v := range values {
			data = binary.NativeEndian.AppendUint64(data, uint64(v))
		}
		return data
	}
	const header, vector, some = 56, 16, 8
	data := words(0, 0, at+header, 1, at+header+vector+some, uintptr(len(control)), 0)
	data = append(data, words(at+header+vector, 1, 0)...)
	t.poke(at, append(data, control...))
	return at
}

// receive gets the descriptor that a tracee has sent.
func receive(socket *net.UnixListener) (fd int, err error) {
	_ = socket.SetDeadline(time.Now().Add(10 * time.Second)) // it has been sent
	c, err := socket.AcceptUnix()
	if err != nil {
		return -1, err
	}
	defer c.Close()
	control := make([]byte, 64)
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 8), control)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return -1, errors.Join(errors.New("it has sent no listener"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(errors.New("it has sent no listener"), err)
	}
	return fds[0], nil
}

// leaveFilter leaves a program for seccomp in the tracee.
func (t *Tracee) leaveFilter(code []unix.SockFilter) uintptr {
	at := t.room()
	data := binary.NativeEndian.AppendUint64(nil, uint64(len(code)))
	data = binary.NativeEndian.AppendUint64(data, uint64(at)+16)
	for _, c := range code {
		data = binary.NativeEndian.AppendUint16(data, c.Code)
		data = append(data, c.Jt, c.Jf)
		data = binary.NativeEndian.AppendUint32(data, c.K)
	}
	t.poke(at, data)
	return at
}
