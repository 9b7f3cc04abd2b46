package scenarios_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"nodestorm/features"
	"nodestorm/scenarios"
)

// A stored run knows its record by a digest of its JSON: nothing that a run is judged by
// may be missing from that.
func TestRecordsAsJSON(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range catalogue.Records() {
		text, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		var again scenarios.Record
		if err := json.Unmarshal(text, &again); err != nil {
			t.Errorf("%s: %v: %s", record.ID, err, text)
			continue
		}
		if !reflect.DeepEqual(again, record) {
			t.Errorf("%s as JSON is another record:\n%s", record.ID, text)
		}
	}
}
