# What https://github.com/kubernetes-sigs/karpenter/issues/666 is about: what pods prefer is taken for
# what they require, as long as that can be had.

@karpenter @issue-666
Feature: What was launched for pods is used for them, whatever they prefer

  @karpenter-666-preferred-spread
  Scenario: Pods that prefer to be spread over two zones wait for their machines beside one that does not care
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1m later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: zone-a}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: zone-b}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-b]}
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: batch}
      spec:
        replicas: 1
        selector: {matchLabels: {app: batch}}
        template:
          metadata: {labels: {app: batch}}
          spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 2900m}}}]}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            topologySpreadConstraints:
              - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}
            containers: [{name: main, image: main, resources: {requests: {cpu: 2700m}}}]
      """
    Then 5m from now, between 1 and 3 NodeClaims have been created since the start
    And every pod is Running within 5m
