Feature: A machine that is to be spared is spared, also if it was marked before

  @SCENARIO-ID
  Scenario: Somebody repairs a node himself, and has remediations go on after that
    Given a cluster
    # The real controllers of Cluster API: the target. Their provider's machines are simulated.
    And Cluster API
    # A fault. It is there before what it breaks; "nodestorm sentences simulated node" has more.
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
    # A step that waits for an event of the history.
    And this is recorded:
      """
      {source: api, verb: [create, patch], resource: events, detail: {message: {contains: has been marked as unhealthy}}, within: 20m}
      """
    # $name is the name of the object of the event that was waited for last.
    And this is recorded:
      """
      {source: api, verb: create, resource: machines, ever: true}
      """
    And "Machine/$name" is annotated "cluster.x-k8s.io/skip-remediation=true"
    And the scenario waits for 10m
    And these objects are applied:
      """
      apiVersion: cluster.x-k8s.io/v1beta1
      kind: MachineDeployment
      metadata: {name: workers, namespace: default}
      spec: {strategy: {remediation: {maxInFlight: 1}}}
      """
    # A Then waits for a span of virtual time, which passes in seconds.
    Then 15m from now, a machine has been created since the start, and none has been deleted
