// Pinger serves time over HTTP and asks its peer for it every interval, so that
// a test can see whether two programs live in one time.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	l, err := net.Listen("tcp", ":0") // the overlay keeps it on loopback
	if err != nil {
		panic(err)
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(time.Now().UnixNano())
	}))
	fmt.Println(l.Addr())
	if len(os.Args) < 3 {
		select {}
	}
	interval, err := time.ParseDuration(os.Args[2])
	if err != nil {
		panic(err)
	}
	start := time.Now()
	for range time.Tick(interval) {
		before := time.Now()
		resp, err := http.Get("http://" + os.Args[1])
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		after := time.Now()
		var there int64
		json.Unmarshal(body, &there)
		fmt.Println(time.Since(start).Round(time.Millisecond).Milliseconds(), before.UnixNano() <= there && there <= after.UnixNano(), after.Sub(before).Microseconds())
	}
}
