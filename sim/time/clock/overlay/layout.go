package overlay

// The layout of a clock page, which sim/time/clock shares with runtime/nodestorm.go.txt,
// which is compiled into every program of a world. PageMagic changes whenever it does.
const (
	PageMagic  = 0x6e6f646573746f31 // "nodesto1"
	PageSize   = 4096
	SlotSize   = 1024
	SlotCount  = 512 // processes a world can have at once
	LagBuckets = 104
)
