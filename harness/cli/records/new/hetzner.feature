Feature: A server that goes off before its Node registers is not waited for

  @SCENARIO-ID
  Scenario: The first server goes off ten seconds after it runs
    Given a cluster
    # Without a type "cx11" some releases up to 1.31.0 do nothing at all.
    And a Hetzner Cloud project that still has the server type "cx11"
    And a Ready Node "control-plane" on a server of the project
    And a node group "pool1" of 0 to 3 servers of type "cx22" in "fsn1"
    # A fault. It is there before what it breaks; "nodestorm sentences first server" has more.
    And the first server of the group "pool1" turns off 10s after it is running
    # With other flags: "And Cluster Autoscaler with the flags:" and a table of them below.
    And Cluster Autoscaler
    When a pod "web" that requests 1 CPU is created
    # A Then waits for a span of virtual time, which passes in seconds.
    Then at least 2 servers of the group "pool1" are created within 10m
    And the pod "web" is Running within 5m
