package world

// OnStop has Stop call f, before what was started earlier is ended: for parts of a
// world that are no programs, such as a cloud.
func (w *World) OnStop(f func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undo = append(w.undo, f)
}

// Dir is a folder for what ends with the world, readable by us only.
func (w *World) Dir() string { return w.tmp }
