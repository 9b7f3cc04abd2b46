Feature: A machine that is on its way is counted on, by whatever it was requested

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
