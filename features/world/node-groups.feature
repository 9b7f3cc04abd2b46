# Node groups as a table, on Cluster API in a cluster of its own: who says what to whom
# there goes to the cluster in which the objects are.

@objects
Feature: Node groups have the shapes, labels and taints that a table gives them

  Scenario: Machines of a type of one's own, in a group that is scaled by hand
    Given a cluster
    And the cloud also has these instance types:
      | name | cpu | memory | price |
      | huge | 64  | 256    | 400   |
    And Cluster API v1.9.5 in a management cluster of its own
    And these node groups:
      | name  | min | max | type | zone   | labels     | taints                     |
      | batch | 1   | 3   | huge | zone-b | pool=batch | dedicated=batch:NoSchedule |
      | spare | 0   | 3   |      |        |            |                            |
    And this is recorded:
      """
      source: api
      verb: create
      resource: nodes
      detail: {taints: {contains: "dedicated=batch:NoSchedule"}}
      """
    When "MachineDeployment/batch" is scaled to 2
    And "MachineDeployment/spare" is annotated "example.com/note=mine"
    And these objects are created once "cloud" has recorded "created" of "instances":
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {pool: batch, topology.kubernetes.io/zone: zone-b}
        tolerations: [{key: dedicated, operator: Exists}]
        containers: [{name: web, image: web, resources: {requests: {cpu: 40}}}]
      """
    Then the pod "web" is Running within 5m
    And the MachineDeployment "batch" has 2 Running machines within 5m
    And the cloud has 0 instances of "spare"
