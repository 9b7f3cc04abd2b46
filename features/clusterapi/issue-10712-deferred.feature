# That remediations are deferred came with https://github.com/kubernetes-sigs/cluster-api/pull/10712.

@cluster-api @clusterapi @issue-10712
Feature: A machine that is to be spared is spared, also if it was marked before

  Background:
    Given a cluster
    And Cluster API
    And the first new simulated node stops sending heartbeats, from 2m on, for 9m
    And a MachineDeployment "workers" with 1 Running machine
    And a MachineHealthCheck that replaces machines of "workers" whose Node is not Ready for 3m
    When these objects are applied:
      """
      apiVersion: cluster.x-k8s.io/v1beta1
      kind: MachineDeployment
      metadata: {name: workers, namespace: default}
      spec: {strategy: {remediation: {maxInFlight: 0}}}
      """
    And this is recorded:
      """
      {source: api, verb: [create, patch], resource: events, detail: {message: {contains: has been marked as unhealthy}}, within: 20m}
      """
    And this is recorded:
      """
      {source: api, verb: create, resource: machines, ever: true}
      """

  @clusterapi-10712-skipped
  Scenario: An operator repairs a node, and has remediations go on after that
    When "Machine/$name" is annotated "cluster.x-k8s.io/skip-remediation=true"
    And the scenario waits for 10m
    And these objects are applied:
      """
      apiVersion: cluster.x-k8s.io/v1beta1
      kind: MachineDeployment
      metadata: {name: workers, namespace: default}
      spec: {strategy: {remediation: {maxInFlight: 1}}}
      """
    Then 15m from now, a machine has been created since the start, and none has been deleted

  @clusterapi-10712-paused
  Scenario: An operator pauses a machine, and has remediations go on after that
    When "Machine/$name" is annotated "cluster.x-k8s.io/paused=true"
    And the scenario waits for 10m
    And these objects are applied:
      """
      apiVersion: cluster.x-k8s.io/v1beta1
      kind: MachineDeployment
      metadata: {name: workers, namespace: default}
      spec: {strategy: {remediation: {maxInFlight: 1}}}
      """
    Then 15m from now, a machine has been created since the start, and none has been deleted
