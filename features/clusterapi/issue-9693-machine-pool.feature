# https://github.com/kubernetes/autoscaler/pull/9693, in no release up to 1.36.1.

@cluster-autoscaler @clusterapi @issue-9693
Feature: A node that is not needed goes, or is said to stay

  @clusterapi-9693-machine-pool
  Scenario: There is no Machine for any node of a MachinePool, which Cluster API leaves to its provider
    Given a cluster
    And Cluster API v1.9.5
    And a MachinePool "pool" with 2 Running instances
    And "MachinePool/pool" is annotated "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size=1"
    And "MachinePool/pool" is annotated "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size=4"
    And a pod "a" that requests 3 CPU is Running
    And Cluster Autoscaler
    When the scenario waits for 1m
    Then the autoscaler scales the MachinePool "pool" within 30m

  @clusterapi-9693-reported-removed
  Scenario: A user mistypes the group's maximum in the moment in which its machine is to go
    Given a cluster
    And Cluster API v1.9.5
    And a MachineDeployment "workers" of 1 to 4 machines, 2 of them Running
    And a pod "a" that requests 3 CPU is Running
    And these faults:
      """
      rules:
      # Of the reads since the drain began, the one five seconds later: the main loop reads
      # again only after ten.
      - name: a slip of the hand
        match: {client: cluster-autoscaler, verbs: [get], resource: machinedeployments.cluster.x-k8s.io, subresource: scale, name: workers}
        when: {source: api, verb: create, resource: events, actor: cluster-autoscaler, detail: {message: {contains: toBeDeleted}}}
        at: 3s
        limit: 1
        act:
          otherWriter:
            patch: {metadata: {annotations: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "4o"}}}
            settle: 1s
      """
    And Cluster Autoscaler
    When the scenario waits for 10m
    Then 5m from now, the autoscaler has reported no Node as removed before it scaled the MachineDeployment "workers"
