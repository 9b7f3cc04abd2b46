module nodestorm/features/nodestormtest

go 1.24.0
