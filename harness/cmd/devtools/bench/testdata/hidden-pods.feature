# https://github.com/kubernetes/autoscaler/pull/9360 in a large cluster: ten groups, and a thousand instances that
# have no room for the pod. By hand only, see BENCHMARKS.md.

@cluster-autoscaler @externalgrpc @scale
Feature: Instances that cannot be had do not hide a pod that waits, in a large cluster

  Scenario: The failed instance cannot be deleted, and one of nine other groups has room
    Given a cluster
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name  | type   | min | max |
      | best  | medium | 0   | 5   |
      | other | large  | 0   | 5   |
      | t1    | tiny   | 125 | 130 |
      | t2    | tiny   | 125 | 130 |
      | t3    | tiny   | 125 | 130 |
      | t4    | tiny   | 125 | 130 |
      | t5    | tiny   | 125 | 130 |
      | t6    | tiny   | 125 | 130 |
      | t7    | tiny   | 125 | 130 |
      | t8    | tiny   | 125 | 130 |
    And these faults:
      """
      faults:
      - name: out of stock
        match: {operation: create_server, group: best}
        actionFails: {code: resource_unavailable, message: none left}
      """
    And every call "delete instances" to the cloud is refused with "internal"
    And Cluster Autoscaler
    When this is recorded:
      """
      source: node
      verb: ready
      resource: nodes
      count: 1000
      ever: true
      """
    And a pod "web" that requests 3 CPU is created
    Then this holds within 1m:
      """
      happens: {source: cloud, verb: NodeGroupIncreaseSize, resource: nodegroups, name: other, code: 200}
      """
