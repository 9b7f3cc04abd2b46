package aws_test

import (
	"strings"
	"testing"
	"time"
)

const spec = "LaunchTemplateData.CapacityReservationSpecification."

// An open reservation is filled by default, by none where the template says so, and a targeted one by what names it.
func TestReservations(t *testing.T) {
	w := newWorld(t)
	for name, targeted := range map[string]bool{"open": false, "db": true} {
		if err := w.server.AddReservation(name, "m5.large", "us-west-2a", 1, targeted); err != nil {
			t.Fatal(err)
		}
	}
	id := func(name string) string {
		body := w.ec2(200, "DescribeCapacityReservations", "Filter.1.Name", "tag:Name", "Filter.1.Value.1", name)
		return textAfter(body, "<capacityReservationId>")
	}
	open, db := id("open"), id("db")
	w.contains(w.ec2(200, "DescribeCapacityReservations", "CapacityReservationId.1", db, "Filter.1.Name", "state", "Filter.1.Value.1", "active"),
		"<instanceMatchCriteria>targeted</", "<availableInstanceCount>1</", "<endDateType>unlimited</", "<availabilityZone>us-west-2a</")
	w.template("none", spec+"CapacityReservationPreference", "none")
	w.template("default")
	w.template("into-db", spec+"CapacityReservationPreference", "capacity-reservations-only",
		spec+"CapacityReservationTarget.CapacityReservationId", db)
	w.template("gone", spec+"CapacityReservationTarget.CapacityReservationId", "cr-0")
	for _, test := range []struct{ template, zone, instance, fleet string }{
		{"none", "us-west-2a", "<capacityReservationPreference>none</", ""},
		{"into-db", "us-west-2b", "", "<errorCode>ReservationCapacityExceeded</"},
		{"into-db", "us-west-2a", "<capacityReservationId>" + db + "</capacityReservationId><", ""},
		{"into-db", "us-west-2a", "", "<errorCode>ReservationCapacityExceeded</"},
		{"gone", "us-west-2a", "", "<errorCode>InvalidCapacityReservationId.NotFound</"},
		{"default", "us-west-2a", "<capacityReservationId>" + open + "</", ""},
	} {
		const at = "LaunchTemplateConfigs.1.Overrides.1."
		fleet := append(w.fleet(test.template, "m5.large")[:16], at+"InstanceType", "m5.large", at+"SubnetId", w.subnet(test.zone))
		body := w.ec2(200, "CreateFleet", fleet...)
		if test.fleet != "" {
			w.contains(body, test.fleet)
			continue
		}
		w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", textAfter(body, "<instanceIds><item>")), test.instance)
	}
	w.contains(w.ec2(200, "DescribeCapacityReservations", "CapacityReservationId.1", open), "<availableInstanceCount>0</")
	w.contains(w.ec2(400, "CreateLaunchTemplate", "LaunchTemplateName", "both", spec+"CapacityReservationPreference", "none",
		spec+"CapacityReservationTarget.CapacityReservationId", db), "InvalidParameterCombination")
	if err := w.server.EndReservation("db", time.Minute); err != nil {
		t.Fatal(err)
	}
	w.pass(2 * time.Minute)
	w.contains(w.ec2(200, "DescribeCapacityReservations", "CapacityReservationId.1", db), "<state>expired</", "<endDateType>limited</",
		"<availableInstanceCount>0</", "<endDate>2026-11-01T12:0")
	if body := w.ec2(200, "DescribeInstances"); strings.Contains(body, "</instanceLifecycle><capacityReservationId>"+db) ||
		strings.Count(body, "<capacityReservationId>"+db+"<") != 1 { // as the target that the instance names
		t.Errorf("an instance is in a reservation that has ended: %s", body)
	}
	for _, wrong := range []error{
		w.server.AddReservation("db", "m5.large", "us-west-2a", 1, false), w.server.AddReservation("a", "m5.large", "us-west-2a", 0, false),
		w.server.AddReservation("b", "m99.large", "us-west-2a", 1, false), w.server.AddReservation("c", "m5.large", "us-west-2x", 1, false),
		w.server.EndReservation("d", 0),
	} {
		if wrong == nil {
			t.Error("a reservation that cannot be is there")
		}
	}
}
