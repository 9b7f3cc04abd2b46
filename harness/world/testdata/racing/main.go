// Racing has a data race: two goroutines write what nothing protects.
package main

import "time"

var total int

func main() {
	for range 2 {
		go add()
	}
	time.Sleep(time.Hour)
}

func add() { total++ }
