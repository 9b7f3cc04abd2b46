# What the infrastructure provider of our world does wrong, other controllers and
# users, and what the real controllers of Cluster API make of it.

@clusterapi
Feature: Cluster API and what goes wrong around it

  Scenario: machines that are not provisioned
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "stuck" with 1 Running machine
    And a MachineDeployment "refused" with 1 Running machine
    And a MachineDeployment "lost" with 1 Running machine
    And a MachineDeployment "deaf" with 1 Running machine
    And further machines of the MachineDeployment "stuck" are stuck in Provisioning
    And further machines of the MachineDeployment "refused" fail to be provisioned
    And further machines of the MachineDeployment "lost" get a provider ID and are lost before they join
    And further machines of the MachineDeployment "deaf" never join
    When somebody scales the MachineDeployment "stuck" to 2 with kubectl
    And somebody scales the MachineDeployment "refused" to 2 with kubectl
    And somebody scales the MachineDeployment "lost" to 2 with kubectl
    And somebody scales the MachineDeployment "deaf" to 2 with kubectl
    And 10m pass
    Then the MachineDeployment "stuck" has 1 machine in the phase "Provisioning" within 1m
    And the MachineDeployment "refused" has 1 machine in the phase "Failed" within 1m
    And the MachineDeployment "lost" has 1 machine in the phase "Failed" within 1m
    And the MachineDeployment "deaf" has 1 machine in the phase "Provisioned" within 1m
    And the cloud has 1 instance of "stuck"
    And the cloud has 1 instance of "refused"
    And the cloud has 1 instance of "lost"
    And the cloud has 2 instances of "deaf"

  Scenario: machines that do not go
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "guarded" with 1 Running machine
    And a Deployment "web" of 1 pod that requests 3 CPU and cannot be evicted is Running
    And a MachineDeployment "held" with 2 Running machines
    And a finalizer of the provider holds every machine of the MachineDeployment "held"
    When somebody scales the MachineDeployment "held" to 1 with kubectl
    And the MachineDeployment "guarded" changes to instances of the type "cpx41"
    And 15m pass
    Then the MachineDeployment "held" has 1 machine in the phase "Deleting" within 1m
    And the MachineDeployment "guarded" has 1 machine in the phase "Deleting" within 1m
    And the cloud has 2 instances of "held"
    And the cloud has 2 instances of "guarded"

  Scenario: several who decide
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "rotated" with 1 Running machine
    And a MachineDeployment "paused" with 1 Running machine
    And a MachineDeployment "fought" with 1 Running machine
    When somebody scales the MachineDeployment "rotated" to 3 with kubectl
    And the MachineDeployment "rotated" changes to instances of the type "cpx41"
    And somebody pauses the MachineDeployment "paused"
    And somebody scales the MachineDeployment "paused" to 2 with kubectl
    And somebody scales the MachineDeployment "fought" to 3 with kubectl
    And another controller sets the MachineDeployment "fought" to 2
    Then the MachineDeployment "fought" has 2 Running machines within 10m
    And its old machines are gone within 20m
    And the MachineDeployment "rotated" has 3 Running machines within 10m
    And the MachineDeployment "paused" still has 1 machine 10m later

  Scenario: a failure that is reported of a machine that runs
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" with 2 Running machines
    When the provider reports every machine of the MachineDeployment "workers" as failed
    Then the MachineDeployment "workers" has 2 machines in the phase "Failed" within 5m
    And the cloud has 2 instances of "workers"

  Scenario Outline: a MachinePool grows and shrinks, <release>
    Given a cluster
    And Cluster API <release>
    And a MachinePool "pool" with 1 Running instance
    When somebody scales the MachinePool "pool" to 3 with kubectl
    Then the MachinePool "pool" has 3 Running instances within 5m
    When somebody scales the MachinePool "pool" to 2 with kubectl
    Then the MachinePool "pool" has 2 Running instances within 10m

    Examples:
      | release |
      | v1.9.5  |
      | v1.12.0 |
