// Allows main.go to name a function of package runtime without a body.
