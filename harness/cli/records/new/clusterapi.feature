# A failure as a story: what is there (Given), what a user asks for or what breaks
# (When), and what ought to hold all the same (Then). The Thens state the right
# behaviour, so a build with the bug fails one of them.
#
# "nodestorm sentences" prints all that a step can say, "nodestorm lint" what is wrong.

Feature: A machine that is on its way is counted on, by whatever it was requested

  # The tag is the ID of the record beside this file. Without the record the scenario
  # runs as well: nodestorm run SCENARIO-ID.feature --target cluster-autoscaler@1.36.1
  @SCENARIO-ID
  Scenario: A user scales the group, and a moment later there is a pod for the new machine
    Given a cluster
    # The real controllers of Cluster API, with a provider whose machines are simulated.
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 5 machines, 1 of them Running
    And a pod "a" that requests 3 CPU is Running
    # With other flags: "And Cluster Autoscaler with the flags:" and a table of them below.
    And Cluster Autoscaler
    When "MachineDeployment/workers" is scaled to 2
    And a pod "web" that requests 3 CPU is created
    # A Then waits for a span of virtual time, which passes in seconds.
    Then 5m from now, the autoscaler has not scaled the MachineDeployment "workers" since the start
    And the pod "web" is Running within 10m
