// Guest is a program that knows nothing of a virtual clock: it is built as any other. It does
// what its first argument says.
package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	began := time.Now()
	fmt.Println("ready", began.UnixNano())
	switch os.Args[1] {
	case "sleep": // and say how long it was by each clock
		d, err := time.ParseDuration(os.Args[2])
		check(err)
		time.Sleep(d)
		fmt.Println(time.Since(began).Nanoseconds(), time.Now().Round(0).Sub(began.Round(0)).Nanoseconds())
	case "tick": // for so long, and say how often
		every, err := time.ParseDuration(os.Args[2])
		check(err)
		lasts, err := time.ParseDuration(os.Args[3])
		check(err)
		n, ticks, end := 0, time.NewTicker(every), time.After(lasts)
		for {
			select {
			case <-ticks.C:
				n++
			case <-end:
				fmt.Println(n)
				return
			}
		}
	case "listen": // on all addresses, or so it thinks, by TCP and by UDP
		for _, network := range []string{"tcp", "tcp4"} {
			l, err := net.Listen(network, ":0")
			check(err)
			fmt.Print(l.Addr().(*net.TCPAddr).IP, " ")
		}
		p, err := net.ListenPacket("udp", ":0")
		check(err)
		fmt.Println(p.LocalAddr().(*net.UDPAddr).IP)
	case "talk": // with itself over TCP, a word a second for a minute
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(err)
		go func() {
			c, err := l.Accept()
			check(err)
			word := make([]byte, 1)
			for {
				if _, err := c.Read(word); err != nil {
					return
				}
				time.Sleep(time.Second)
				_, err := c.Write(word)
				check(err)
			}
		}()
		c, err := net.Dial("tcp", l.Addr().String())
		check(err)
		word := []byte{1}
		for range 60 {
			_, err := c.Write(word)
			check(err)
			_, err = c.Read(word)
			check(err)
		}
		fmt.Println(time.Since(began).Nanoseconds())
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
