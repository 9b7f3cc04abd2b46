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
    And every machine of the MachineDeployment "stuck" is stuck in Provisioning
    And every machine of the MachineDeployment "refused" fails to be provisioned
    And every machine of the MachineDeployment "lost" gets a provider ID and is lost before it joins
    And every machine of the MachineDeployment "deaf" never joins
    When "MachineDeployment/stuck" is scaled to 2
    And "MachineDeployment/refused" is scaled to 2
    And "MachineDeployment/lost" is scaled to 2
    And "MachineDeployment/deaf" is scaled to 2
    And the scenario waits for 10m
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
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 3}}}]
      ---
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
      """
    And "node" has recorded "running" of "pods"
    And a MachineDeployment "held" with 2 Running machines
    And every machine of the MachineDeployment "held" is held by a finalizer when it is deleted
    When "MachineDeployment/held" is scaled to 1
    And the MachineDeployment "guarded" changes to instances of the type "cpx41"
    And the scenario waits for 15m
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
    When "MachineDeployment/rotated" is scaled to 3
    And the MachineDeployment "rotated" changes to instances of the type "cpx41"
    And "MachineDeployment/paused" is annotated "cluster.x-k8s.io/paused="
    And "MachineDeployment/paused" is scaled to 2
    And "MachineDeployment/fought" is scaled to 3
    And "MachineDeployment/fought" is patched with:
      """
      spec: {replicas: 2}
      """
    Then the MachineDeployment "fought" has 2 Running machines within 10m
    And the machines of the former instance type are gone within 20m
    And the MachineDeployment "rotated" has 3 Running machines within 10m
    And 10m from now, the MachineDeployment "paused" has 1 machine

  Scenario: a failure that is reported of a machine that runs
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" with 2 Running machines
    When every machine of the MachineDeployment "workers" is reported as failed while it runs
    Then the MachineDeployment "workers" has 2 machines in the phase "Failed" within 5m
    And the cloud has 2 instances of "workers"

  Scenario Outline: a MachinePool grows and shrinks, <release>
    Given a cluster
    And Cluster API <release>
    And a MachinePool "pool" with 1 Running instance
    When "MachinePool/pool" is scaled to 3
    Then the MachinePool "pool" has 3 Running instances within 5m
    When "MachinePool/pool" is scaled to 2
    Then the MachinePool "pool" has 2 Running instances within 10m

    Examples:
      | release |
      | v1.9.5  |
      | v1.12.0 |
