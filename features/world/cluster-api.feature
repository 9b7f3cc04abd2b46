# The real controllers of Cluster API by themselves: what they do without any
# autoscaler is what failures with one are compared with.

@clusterapi
Feature: Cluster API looks after machines as its users know it

  Scenario Outline: kubectl scale of a MachineDeployment, <release>
    Given a cluster
    And Cluster API <release>
    And a MachineDeployment "workers" with 1 Running machine
    When "MachineDeployment/workers" is scaled to 3
    Then the MachineDeployment "workers" has 3 Running machines within 5m
    And the cloud has 3 instances of "workers"

    Examples:
      | release |
      | v1.9.5  |
      | v1.12.0 |

  Scenario Outline: a rolling update to machines of another type, <release>
    Given a cluster
    And Cluster API <release>
    And a MachineDeployment "workers" with 2 Running machines
    When the MachineDeployment "workers" changes to instances of the type "cpx41"
    Then the machines of the former instance type are gone within 15m
    And the MachineDeployment "workers" has 2 Running machines within 5m
    And the cloud has 2 instances of "workers"
    And all instances are of the type "cpx41"

    Examples:
      | release |
      | v1.9.5  |
      | v1.12.0 |

  Scenario Outline: a health check replaces a machine whose kubelet falls silent, <release>
    Given a cluster
    And Cluster API <release>
    And a MachineDeployment "workers" with 3 Running machines
    And a MachineHealthCheck that replaces machines of "workers" whose Node is not Ready for 5m
    When the kubelet of a machine of the MachineDeployment "workers" stops sending heartbeats
    Then the machine whose kubelet stopped sending heartbeats is gone within 20m
    And the MachineDeployment "workers" has 3 Running machines within 5m
    And the cloud has 3 instances of "workers"

    Examples:
      | release |
      | v1.9.5  |
      | v1.12.0 |

  # Nodes are in the one cluster, and what makes them in the other.
  Scenario Outline: a management cluster looks after the machines of another cluster, <release>
    Given a cluster
    And Cluster API <release> in a management cluster of its own
    And a MachineDeployment "workers" with 1 Running machine
    And a MachineHealthCheck that replaces machines of "workers" whose Node is not Ready for 5m
    When "MachineDeployment/workers" is scaled to 2
    Then the MachineDeployment "workers" has 2 Running machines within 5m
    When the kubelet of a machine of the MachineDeployment "workers" stops sending heartbeats
    Then the machine whose kubelet stopped sending heartbeats is gone within 20m
    And the MachineDeployment "workers" has 2 Running machines within 5m
    And the cloud has 2 instances of "workers"

    Examples:
      | release |
      | v1.9.5  |
      | v1.12.0 |
