# What came with https://github.com/kubernetes-sigs/karpenter/pull/3028: CapacityBuffers.

@karpenter @issue-3028
Feature: A CapacityBuffer that has its machine is in the way of no other one

  @karpenter-3028-consolidation-blocked
  Scenario: Two half empty machines could be one, and that of a buffer is too young to be consolidated
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the target has the environment variables:
      | FEATURE_GATES | CapacityBuffer=true |
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: buffers}
      spec:
        disruption: {consolidateAfter: 4h}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            taints: [{key: example.org/buffers, effect: NoSchedule}]
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: 0s, budgets: [{nodes: "100%"}]}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: v1
      kind: PodTemplate
      metadata: {name: spare}
      template:
        metadata: {labels: {app: spare}}
        spec:
          nodeSelector: {karpenter.sh/nodepool: buffers}
          tolerations: [{key: example.org/buffers, operator: Exists}]
          containers: [{name: main, image: main, resources: {requests: {cpu: "1"}}}]
      ---
      apiVersion: autoscaling.x-k8s.io/v1beta1
      kind: CapacityBuffer
      metadata: {name: spare}
      spec: {podTemplateRef: {name: spare}, replicas: 1}
      """
    And "node" has recorded "ready" of "nodes" 2 times
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: first}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 2500m}}}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: second}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 2500m}}}]}
      """
    Then the pod "first" is Running within 5m
    And the pod "second" is Running within 5m
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 800m}}}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: api}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 800m}}}]}
      """
    Then the pod "web" is Running within 5m
    And the pod "api" is Running within 5m
    When "Pod/first" is deleted
    And "Pod/second" is deleted
    Then "karpenter" has sent "delete" of "nodeclaims" within 20m
