# https://github.com/kubernetes-sigs/karpenter/issues/2657, fixed by https://github.com/kubernetes-sigs/karpenter/pull/2526

@karpenter @issue-2657
Feature: A NodePool has no more Nodes than its limit says

  @karpenter-2657-node-limit
  Scenario: Pods that each want a Node of their own come one after the other
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
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
        limits: {nodes: "2"}
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            affinity:
              podAntiAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
            containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then a pod of the Deployment "web" is Running within 5m
    When "Deployment/web" is scaled to 2
    Then every pod is Running within 5m
    # A Node that has just become Ready may have the taint for a few seconds more.
    When the scenario waits for 30s
    And "Deployment/web" is scaled to 3
    Then 5m from now, between 1 and 2 NodeClaims have been created since the start
