# https://github.com/kubernetes-sigs/karpenter/issues/3166, fixed by https://github.com/kubernetes-sigs/karpenter/pull/3174

@karpenter @issue-3166
Feature: A CapacityBuffer has room for its pods as they are, labels among it

  @karpenter-3166-labels-of-a-buffer
  Scenario: Each pod of a buffer wants a node without another pod of its label
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 40s after their launch and are Ready 5s later
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
      metadata: {name: default}
      spec:
        disruption: {consolidateAfter: Never}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: v1
      kind: PodTemplate
      metadata: {name: apart}
      template:
        metadata: {labels: {app: apart}}
        spec:
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}
          containers: [{name: main, image: main, resources: {requests: {cpu: 500m}}}]
      ---
      apiVersion: autoscaling.x-k8s.io/v1beta1
      kind: CapacityBuffer
      metadata: {name: apart}
      spec: {podTemplateRef: {name: apart}, replicas: 2}
      """
    And "node" has recorded "ready" of "nodes" 2 times
    When the scenario waits for 4m
    And these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: apart}
      spec:
        replicas: 2
        selector: {matchLabels: {app: apart}}
        template:
          metadata: {labels: {app: apart}}
          spec:
            affinity:
              podAntiAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}
            containers: [{name: main, image: main, resources: {requests: {cpu: 500m}}}]
      """
    Then every pod is Running within 30s
