// Lets page.go name a function of package runtime without a body.
