package clock

// The layout of a clock page, which page.go shares with
// overlay/runtime/nodestorm.go.txt, which is compiled into every program of a
// world. pageMagic changes whenever it does.
const (
	pageMagic  = 0x6e6f646573746f31 // "nodesto1"
	pageSize   = 4096
	slotSize   = 1024
	slotCount  = 512 // processes a world can have at once
	lagBuckets = 104
)

// EnvPage names the environment variable that tells a program built with the
// overlay where its world's clock page is.
const EnvPage = "NODESTORM_CLOCK"
