package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/strict"
)

// fieldValues are those of fields that have the same few in whatever object they are.
var fieldValues = map[string][]string{
	"operator":            {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "Equal"},
	"effect":              {"NoSchedule", "PreferNoSchedule", "NoExecute"},
	"whenUnsatisfiable":   {"DoNotSchedule", "ScheduleAnyway"},
	"consolidationPolicy": {"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"},
}

// spans are fields that are durations, or Never.
var spans = []string{"expireAfter", "consolidateAfter", "nodeStartupTimeout", "nodeDrainTimeout", "timeout"}

// valuesOf finds values that such fields cannot have.
func valuesOf(document int, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			text, is := value[key].(string)
			// mutant: n is a word
			if no, isTruth := value[key].(bool); isTruth && fieldValues[key] != nil {
				return fmt.Errorf("document %d: %s: YAML reads it as %v (n, no, off, y, yes and on too): allowed are %s", document, key, no,
					strings.Join(fieldValues[key], ", "))
			}
			if !is {
				if err := valuesOf(document, value[key]); err != nil {
					return err
				}
				continue
			}
			// mutant: a field of few values has any
			if known := fieldValues[key]; text != "" && len(known) > 0 && !slices.Contains(known, text) {
				return fmt.Errorf("document %d: %s: %q is no value of it (allowed: %s)%s", document, key, text, strings.Join(known, ", "),
					strict.Meant(text, known))
			}
			if _, err := time.ParseDuration(text); err != nil && slices.Contains(spans, key) && text != "Never" && !strings.Contains(text, "$") {
				return fmt.Errorf("document %d: %s: %q is no duration (want for example 5m)", document, key, text)
			}
		}
	case []any:
		for _, item := range value {
			if err := valuesOf(document, item); err != nil {
				return err
			}
		}
	}
	return nil
}
