# A world for Cluster Autoscaler beside Karpenter: the same types of machines, their prices (0.025 USD an hour for each
# processor, 0.001 USD for each GB), and how long they take. Each scenario says what cannot be said for both.
# nodestorm compare --given reads the Givens of the scenario of each program. The ConfigMap is for --expander=priority.

Feature: Cluster Autoscaler and Karpenter have the same machines

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 20s after their launch and are Ready 10s later

  @karpenter
  Scenario: Karpenter has a NodePool
    Given a cloud of instances
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    When a pod "web" that requests 5 CPU is created
    Then the pod "web" is Running within 2m
    And this holds:
      """
      ever: true
      count: {source: cloud, verb: created, resource: instances, detail: {type: c-8x-amd64-linux, hourly: 0.21717986918400002}}
      atLeast: 1
      atMost: 1
      """

  @cluster-autoscaler
  Scenario: Cluster Autoscaler has a node group of each type
    Given a cloud of node groups with the types and prices of a cloud of instances
    And the Nodes of instances that are gone are removed
    And these node groups:
      | name  | type             | min | max | zone        |
      | two   | c-2x-amd64-linux | 0   | 100 | test-zone-a |
      | four  | c-4x-amd64-linux | 0   | 100 | test-zone-a |
      | eight | c-8x-amd64-linux | 0   | 100 | test-zone-a |
    And these objects:
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: cluster-autoscaler-priority-expander, namespace: kube-system}
      data: {priorities: "{30: [^eight$], 20: [^four$], 10: [^two$]}"}
      """
    And Cluster Autoscaler
    When a pod "web" that requests 5 CPU is created
    Then the pod "web" is Running within 2m
    And this holds:
      """
      ever: true
      count: {source: cloud, verb: created, resource: instances, detail: {type: c-8x-amd64-linux, hourly: 0.21717986918400002}}
      atLeast: 1
      atMost: 1
      """
